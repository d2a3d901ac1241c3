import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../../auth/client.ts';
import { hostOwner } from '../../auth/host.ts';
import { setSessionCookie } from '../../auth/session-cookie.ts';
import { isFreshSession, type SignedIn, type UserKind, userSessionLimits } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Html } from '../../lib/text/html.ts';
import { browserName } from '../../lib/text/user-agent.ts';
import { wordsFor } from '../../ui/language.ts';
import { currentUser, userActor } from '../current-user.ts';
import type { Realm } from '../realm.ts';
import type { RealmCall, RealmPages } from '../route.ts';
import type { Fresh } from '../step-up.ts';
import { addPasskey, listPasskeys, offerPasskey, removePasskey } from './passkeys.ts';
import { passkeysSection } from './sections.ts';
import { confirmWithPasskey, requestPasskey } from './sign-in.ts';

/** The signed-in user's passkeys, for the page `<realm>/sessions`. */
export async function passkeysOf<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  person: SignedIn<K>,
  request: FastifyRequest,
): Promise<Html> {
  const [passkeys, fresh] = await Promise.all([listPasskeys(ctx, person), isFreshSession(ctx, person.sessionId)]);
  return passkeysSection(wordsFor(request), { realm, passkeys, fresh, browser: browserOf(request) });
}

/** The default name of a passkey: that of the browser. */
const browserOf = ({ headers }: FastifyRequest) => browserName(headers['user-agent'] ?? '');

/**
 * `<realm>/passkeys`: forms that add or remove one's own passkey, and that confirm one's presence; each redirects to
 * `<realm>/sessions`. The options for the browser in the first and the last are at `<form>/options`.
 */
export function passkeyPages<K extends UserKind>(
  app: FastifyInstance,
  pages: RealmPages<K>,
  ctx: Context,
  realm: Realm<K>,
): void {
  const path = `${realm.path}/passkeys`;
  const host = (request: FastifyRequest) => hostOwner(ctx.config, request.headers.host);

  const options = (url: string, make: (person: SignedIn<K>, request: FastifyRequest) => Promise<object | null>) =>
    app.route({
      config: { auth: 'session' },
      method: 'GET',
      url: `${url}/options`,
      handler: async (request, reply) => {
        const person = await currentUser(ctx, realm, request);
        return sendOptions(reply, person && (await make(person, request)));
      },
    });
  const form = (url: string, fresh: Fresh, work: (call: RealmCall<K>) => Promise<string>) =>
    pages.form({ url, fresh }, async (call) => call.done(`${realm.path}/sessions`, await work(call)));

  options(path, (person, request) => offerPasskey(ctx, person, host(request)));
  // The actions check the session themselves, so that their refusals are shown beside the passkeys.
  form(path, 'always', async ({ request, words, person, typed }) => {
    const made = { host: host(request), answer: typed('passkey'), name: typed('name') || browserOf(request) };
    return (await addPasskey(ctx, userActor(person, request), person, made, words)) ?? 'added';
  });
  options(`${path}/confirm`, (person, request) => {
    const place = { kind: realm.kind, host: host(request) };
    return requestPasskey(ctx, place, person.sessionId);
  });
  form(`${path}/confirm`, 'never', async ({ request, reply, person, typed }) => {
    const confirmed = await confirmWithPasskey(ctx, person, host(request), typed('passkey'), clientOf(request));
    if ('refused' in confirmed) return confirmed.refused;
    setSessionCookie(reply, ctx.config, realm.kind, confirmed.token, userSessionLimits[realm.kind].absoluteMs);
    return 'confirmed';
  });
  form(`${path}/remove`, 'always', async ({ request, words, person, typed }) => {
    const id = typed('id');
    if (!isUuid(id)) throw refuse('not_found');
    return (await removePasskey(ctx, userActor(person, request), person, id, words)) ?? 'removed';
  });
}

/** Responds with options for the browser; 404 if there are none. */
export function sendOptions(reply: FastifyReply, options: object | null): FastifyReply {
  if (!options) throw refuse('not_found');
  return reply.header('cache-control', 'no-store').send(options);
}
