import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hostOwner } from '../../auth/host.ts';
import { setSessionCookie } from '../../auth/session-cookie.ts';
import { isFreshSession, type SignedIn, type UserKind, userSessionLimits } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Html } from '../../lib/text/html.ts';
import { browserName } from '../../lib/text/user-agent.ts';
import { wordsFor } from '../../ui/language.ts';
import { sendForeignForm } from '../../web/error-page.ts';
import { isOwnForm } from '../../web/origin.ts';
import { enter, signedIn, userActor } from '../enter.ts';
import type { Fresh } from '../fresh.ts';
import type { Realm } from '../realm.ts';
import { askForPasskey, confirmWithPasskey } from './enter.ts';
import { addPasskey, listPasskeys, offerPasskey, removePasskey } from './passkeys.ts';
import { passkeysSection } from './sections.ts';

type Visit = FastifyRequest<{ Body: Record<string, unknown> | undefined }>;

/** What `<realm>/sessions` says of the passkeys of who is signed in. */
export async function passkeysOf<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  person: SignedIn<K>,
  request: FastifyRequest,
): Promise<Html> {
  const [passkeys, fresh] = await Promise.all([listPasskeys(ctx, person), isFreshSession(ctx, person.sessionId)]);
  return passkeysSection(wordsFor(request), { realm, passkeys, fresh, browser: browserOf(request) });
}

/** What a passkey is called unless its owner says otherwise. */
const browserOf = ({ headers }: FastifyRequest) => browserName(headers['user-agent'] ?? '');

/**
 * `<realm>/passkeys`: forms that add or remove one's own passkey, and that confirm one's presence; each ends at
 * `<realm>/sessions`. What the browser is asked for in the first and the last is at `<form>/options`.
 */
export function passkeyPages<K extends UserKind>(app: FastifyInstance, ctx: Context, realm: Realm<K>): void {
  const config = { auth: 'session' as const };
  const path = `${realm.path}/passkeys`;
  const host = (request: FastifyRequest) => hostOwner(ctx.config, request.headers.host);

  const options = (url: string, make: (person: SignedIn<K>, request: FastifyRequest) => Promise<object | null>) =>
    app.route({
      config,
      method: 'GET',
      url: `${url}/options`,
      handler: async (request, reply) => {
        const person = await signedIn(ctx, realm, request);
        return sendOptions(reply, person && (await make(person, request)));
      },
    });
  const form = (
    url: string,
    fresh: Fresh,
    work: (person: SignedIn<K>, request: Visit, reply: FastifyReply) => Promise<string>,
  ) =>
    app.route({
      config: { ...config, fresh },
      method: 'POST',
      url,
      handler: async (request: Visit, reply) => {
        if (!isOwnForm(request.headers, ctx.config.baseUrl)) return sendForeignForm(reply);
        const person = await enter(ctx, realm, request, reply);
        if (!person) return reply;
        return reply.redirect(`${realm.path}/sessions?done=${await work(person, request, reply)}`, 303);
      },
    });

  options(path, (person, request) => offerPasskey(ctx, person, host(request)));
  // The acts look at the session themselves: what they refuse stands where the passkeys do.
  form(path, 'always', async (person, request) => {
    const { passkey: answer, name } = request.body ?? {};
    const made = { answer, name: typeof name === 'string' && name.trim() ? name : browserOf(request) };
    const actor = userActor(person, request);
    return (await addPasskey(ctx, person, host(request), made, actor, wordsFor(request))) ?? 'added';
  });
  options(`${path}/confirm`, (person, request) => {
    const place = { kind: realm.kind, host: host(request) };
    return askForPasskey(ctx, place, person.sessionId);
  });
  form(`${path}/confirm`, 'never', async (person, request, reply) => {
    const client = { ip: request.ip, userAgent: request.headers['user-agent'] };
    const confirmed = await confirmWithPasskey(ctx, person, host(request), request.body?.passkey, client);
    if ('refused' in confirmed) return confirmed.refused;
    setSessionCookie(reply, ctx.config, realm.kind, confirmed.token, userSessionLimits[realm.kind].absoluteMs);
    return 'confirmed';
  });
  form(`${path}/remove`, 'always', async (person, request) => {
    const id = request.body?.id;
    if (!isUuid(id)) throw refuse('not_found');
    return (await removePasskey(ctx, person, id, userActor(person, request), wordsFor(request))) ?? 'removed';
  });
}

/** What a browser is asked for; 404 where there are no passkeys, and for who is not signed in. */
export function sendOptions(reply: FastifyReply, options: object | null): FastifyReply {
  if (!options) throw refuse('not_found');
  return reply.header('cache-control', 'no-store').send(options);
}
