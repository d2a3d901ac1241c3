import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endUserSession } from '../auth/end-session.ts';
import type { SessionView } from '../auth/merchant-session.ts';
import {
  listUserSessions,
  type Operator,
  type PartnerUser,
  type SignedIn,
  type UserKind,
} from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import { isUuid } from '../lib/ids.ts';
import { type Html, html } from '../lib/text/html.ts';
import { browserName } from '../lib/text/user-agent.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { form } from '../ui/form.ts';
import { instant } from '../ui/formats.ts';
import type { Words } from '../ui/language.ts';
import { notice } from '../web/shell.ts';
import { actionsColumn, table } from '../web/table.ts';
import { leave, userActor } from './current-user.ts';
import { passkeyPages, passkeysOf } from './passkeys/pages.ts';
import { passkeyNotice } from './passkeys/sections.ts';
import type { Realm } from './realm.ts';
import { declareRealmPages } from './route.ts';

type Person = PartnerUser | Operator;
/** Responds with a page's content in the shell of its realm. */
export type ShowFramed<K extends UserKind> = (
  request: FastifyRequest,
  reply: FastifyReply,
  person: SignedIn<K>,
  page: { path: string; title: string; body: Html },
) => Promise<FastifyReply>;

/** `<realm>/sessions`: the user's sessions, each with a way to end it, and passkeys; and `<realm>/sign-out`. */
export function userSessionPages<K extends UserKind>(
  app: FastifyInstance,
  ctx: Context,
  realm: Realm<K>,
  show: ShowFramed<K>,
): void {
  const path = `${realm.path}/sessions`;
  const pages = declareRealmPages(app, ctx, realm);
  passkeyPages(app, pages, ctx, realm);

  pages.page({ url: path }, async (call) => {
    const { request, reply, words, person } = call;
    const list = sessionTable(words, path, person, await listUserSessions(ctx, person));
    const word = call.query(['done']).done;
    const done =
      word === 'revoked' ? notice('paid', signInTexts(words).account.signedOutThere) : passkeyNotice(words, word);
    const passkeys = await passkeysOf(ctx, realm, person, request);
    const body = html`${done}${list}${passkeys}`;
    return show(request, reply, person, { path, title: signInTexts(words).account.sessions, body });
  });
  pages.form({ url: `${path}/revoke`, fresh: 'never' }, async (call) => {
    const { request, reply, person } = call;
    const id = call.typed('session');
    if (isUuid(id)) await revoke(ctx, person, id, request);
    return id === person.sessionId ? leave(ctx, realm, reply) : call.done(path, 'revoked');
  });
  pages.form({ url: `${realm.path}/sign-out`, fresh: 'never' }, async ({ request, reply, person }) => {
    await revoke(ctx, person, person.sessionId, request);
    return leave(ctx, realm, reply);
  });
}

/** Ends one of the user's own sessions. */
function revoke(ctx: Context, person: Person, sessionId: string, request: FastifyRequest): Promise<boolean> {
  const partnerId = person.kind === 'partner_user' ? person.partner.id : null;
  const owner = { kind: person.kind, userId: person.userId, partnerId };
  return endUserSession(ctx, userActor(person, request), owner, sessionId);
}

function sessionTable(words: Words, path: string, person: Person, sessions: SessionView[]): Html {
  const { account: t } = signInTexts(words);
  return table<SessionView>(
    t.sessions,
    [
      { name: t.browser, cell: ({ user_agent }) => (user_agent === null ? t.unknownBrowser : browserName(user_agent)) },
      { name: t.from, cell: ({ ip }) => ip },
      { name: t.since, cell: ({ created_at }) => instant(words, created_at) },
      { name: t.lastSeen, cell: ({ last_seen_at }) => instant(words, last_seen_at) },
      actionsColumn(words, ({ id }) =>
        id === person.sessionId
          ? t.thisOne
          : form({ action: `${path}/revoke`, hidden: { session: id }, submit: t.signOutThere, second: true }),
      ),
    ],
    sessions,
  );
}
