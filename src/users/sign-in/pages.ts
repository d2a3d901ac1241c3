import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bindBrowser, browserToken } from '../../auth/browser-cookie.ts';
import { clientOf } from '../../auth/client.ts';
import { hostOwner } from '../../auth/host.ts';
import { knownBrowser, rememberBrowser, signInSender } from '../../auth/known-browser.ts';
import { takeReturnPath } from '../../auth/return-path.ts';
import { sessionToken, setSessionCookie } from '../../auth/session-cookie.ts';
import { type LinkOpened, readLink } from '../../auth/sign-in-link.ts';
import { userSessionLimits } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { AttemptLimit, clientSubject, networkSubject } from '../../lib/concurrency/attempts.ts';
import { minuteMs } from '../../lib/durations.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Html } from '../../lib/text/html.ts';
import { readBranding } from '../../partners/branding.ts';
import { readPartner } from '../../partners/read.ts';
import type { Partner } from '../../partners/store.ts';
import type { Branding } from '../../ui/branding.ts';
import { languageFor, wordsFor } from '../../ui/language.ts';
import { sendForeignForm, sendTooMany } from '../../web/error-page.ts';
import { sendPage } from '../../web/layout.ts';
import { isOwnForm } from '../../web/origin.ts';
import { isUnsaved } from '../../web/sign-in-address.ts';
import { currentUser } from '../current-user.ts';
import { sendOptions } from '../passkeys/pages.ts';
import { requestPasskey, signInWithPasskey } from '../passkeys/sign-in.ts';
import type { Realm } from '../realm.ts';
import { emailFrom } from '../rules.ts';
import { againPage, linkPage, openPage, refusedPage, sentPage, signInTitle } from './page.ts';
import { type Entered, requestLink, signInWithLink } from './sign-in.ts';

type Visit = FastifyRequest<{ Params: { token: string }; Body: Record<string, unknown> | undefined }>;

/** The host of a visit: the shared one (`partner` is null), or a partner's own, with its branding. */
type Place = { partner: Partner | null; branding: Branding | null };

const asksPerMinute = 10;
const opensPerMinute = 60;

/**
 * `<realm>/sign-in` and `<realm>/link/:token`: the user enters an address, gets a link by mail, and signs in with a
 * button on its page, or with a passkey. Opening the link alone changes nothing, since programs that scan mails open
 * links too.
 */
export function userSignInPages(app: FastifyInstance, ctx: Context, realm: Realm): void {
  const config = { auth: 'public' as const };
  const asks = new AttemptLimit(asksPerMinute, minuteMs);
  const opens = new AttemptLimit(opensPerMinute, minuteMs);
  const earlierOf = (request: Visit) => sessionToken(request, ctx.config, realm.kind);
  const letIn = (request: Visit, reply: FastifyReply, { token, email }: Entered) => {
    setSessionCookie(reply, ctx.config, realm.kind, token, userSessionLimits[realm.kind].absoluteMs);
    rememberBrowser(ctx, reply, { kind: realm.kind, name: email });
    return reply.redirect(takeReturnPath(request, reply, ctx.config, realm.kind), 303);
  };
  const get = (url: string, run: (request: Visit, reply: FastifyReply, place: Place) => Promise<FastifyReply>) =>
    app.route({
      config,
      method: ['GET', 'HEAD'],
      url: realm.path + url,
      exposeHeadRoute: false,
      handler: async (request: Visit, reply) => run(request, reply, await placeOf(ctx, realm, request)),
    });
  const byClient = (request: Visit) => clientSubject(request.ip);
  const post = (
    url: string,
    limit: AttemptLimit,
    run: (request: Visit, reply: FastifyReply, place: Place) => Promise<FastifyReply>,
    senderOf = byClient,
  ) =>
    app.route({
      config,
      method: 'POST',
      url: realm.path + url,
      handler: async (request: Visit, reply) => {
        if (!isOwnForm(request.headers, ctx.config.baseUrl)) return sendForeignForm(reply);
        if (!limit.take(senderOf(request), ctx.clock.now())) return sendTooMany(reply);
        return run(request, reply, await placeOf(ctx, realm, request));
      },
    });

  get('/sign-in', async (request, reply, place) => {
    if (await currentUser(ctx, realm, request)) return reply.redirect(realm.path, 303);
    const state = { branding: place.branding, unsaved: isUnsaved(request) };
    return show(reply, realm, place, 200, linkPage(wordsFor(request), realm, state));
  });
  get('/sign-in/sent', async (request, reply, place) =>
    show(reply, realm, place, 200, sentPage(wordsFor(request), realm)),
  );
  const byBrowser = (request: Visit) => {
    const name = emailFrom(emailIn(request));
    return signInSender(ctx, request, name === null ? null : { kind: realm.kind, name });
  };
  post('/sign-in', asks, (request, reply, place) => ask(ctx, realm, request, reply, place), byBrowser);
  get('/sign-in/passkey/options', async (request, reply) =>
    sendOptions(reply, await requestPasskey(ctx, { kind: realm.kind, host: hostIn(ctx, request) }, null)),
  );
  post('/sign-in/passkey', opens, async (request, reply, place) => {
    const [host, answer] = [hostIn(ctx, request), request.body?.passkey];
    const [earlier, language] = [earlierOf(request), languageFor(request)];
    const entered = await signInWithPasskey(ctx, realm, host, { answer, client: clientOf(request), earlier, language });
    if ('refused' in entered)
      return show(reply, realm, place, 403, refusedPage(wordsFor(request), realm, entered.refused));
    return letIn(request, reply, entered);
  });
  get('/link/:token', (request, reply, place) => open(ctx, realm, request, reply, place));
  post('/link/:token', opens, async (request, reply, place) => {
    const user = request.body?.user;
    const entered = isUuid(user)
      ? await signInWithLink(ctx, opened(ctx, realm, request), {
          userId: user,
          client: clientOf(request),
          earlier: earlierOf(request),
          language: languageFor(request),
        })
      : null;
    return entered ? letIn(request, reply, entered) : open(ctx, realm, request, reply, place); // says why not
  });
}

const emailIn = ({ body }: Visit) => (typeof body?.email === 'string' ? body.email : '');
const hostIn = (ctx: Context, request: Visit) => hostOwner(ctx.config, request.headers.host);

/** The place of a visit; null if nobody can sign in here: operators sign in on the shared host only. */
async function placeOf(ctx: Context, realm: Realm, request: FastifyRequest): Promise<Place> {
  const host = hostOwner(ctx.config, request.headers.host);
  if (host === null) return { partner: null, branding: null };
  const partner = host === undefined || realm.kind === 'operator' ? null : await readPartner(ctx.db, host);
  if (!partner) throw refuse('not_found');
  return { partner, branding: await readBranding(ctx, partner.id) };
}

function show(reply: FastifyReply, realm: Realm, { branding }: Place, status: number, body: Html): FastifyReply {
  const words = wordsFor(reply.request);
  return sendPage(reply, status, {
    title: signInTitle(words, realm),
    words,
    testMode: null,
    body,
    island: 'passkey',
    branding: branding ?? undefined,
    path: reply.request.method === 'POST' ? undefined : reply.request.url.split('?', 1)[0],
  });
}

async function ask(
  ctx: Context,
  realm: Realm,
  request: Visit,
  reply: FastifyReply,
  place: Place,
): Promise<FastifyReply> {
  const words = wordsFor(request);
  const email = emailIn(request);
  const { partner } = place;
  const asking = {
    email,
    partner,
    browser: bindBrowser(request, reply, ctx.config),
    network: networkSubject(request.ip),
    knownAs: (address: string) => knownBrowser(ctx, request, { kind: realm.kind, name: address }),
  };
  const answer = await requestLink(ctx, realm, asking, words);
  if (answer === 'asked') return reply.redirect(`${realm.path}/sign-in/sent`, 303);
  if (answer === 'exhausted') return show(reply, realm, place, 429, againPage(words, realm, 'enough'));
  const state = { branding: place.branding, rejected: email };
  return show(reply, realm, place, 400, linkPage(words, realm, state));
}

const opened = (ctx: Context, realm: Realm, request: Visit): LinkOpened => ({
  kind: realm.kind,
  token: request.params.token,
  browser: browserToken(request, ctx.config),
  host: hostOwner(ctx.config, request.headers.host),
});

const statusOf = { unknown: 404, used: 410, expired: 410, other_browser: 403 } as const;

async function open(
  ctx: Context,
  realm: Realm,
  request: Visit,
  reply: FastifyReply,
  place: Place,
): Promise<FastifyReply> {
  const words = wordsFor(request);
  const link = await readLink(ctx, opened(ctx, realm, request));
  if (link.state !== 'open') {
    const why = link.state === 'other_browser' ? 'otherBrowser' : link.state;
    const isSignedIn = (await currentUser(ctx, realm, request)) !== null;
    return show(reply, realm, place, statusOf[link.state], againPage(words, realm, why, isSignedIn));
  }
  const action = `${realm.path}/link/${request.params.token}`;
  return show(reply, realm, place, 200, openPage(words, realm, action, link));
}
