import { endUserSession } from '../../auth/end-session.ts';
import type { SessionView } from '../../auth/merchant-session.ts';
import { scopeOfPartner } from '../../auth/scope.ts';
import { listUserSessions } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { browserName } from '../../lib/text/user-agent.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { signInTexts } from '../../texts/sign-in.ts';
import { badge, card, descriptionList } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { type ListedUser, readAnyUser } from '../../users/browse.ts';
import { serviceName } from '../../users/mails.ts';
import { listPasskeys, type Passkey, removePasskeysOf } from '../../users/passkeys/passkeys.ts';
import type { Team } from '../../users/read.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { flashOf } from '../../web/flash.ts';
import { actionsColumn, emptyState, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import { onOff } from '../partners/partners.ts';
import type { AdminCall, AdminPages } from '../route.ts';

/** The address of a user's page, for users of any team. */
export const userPath = (id: string) => `/admin/users/${id}`;

/** `GET /admin/users/<id>`: a user's sessions and passkeys. Ends sessions and removes passkeys. */
export function userPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: userPath(':id') }, async (call) => {
    const user = await readAnyUser(ctx, call.param('id'));
    return user ? show(ctx, call, user) : sendNotFound(call.reply);
  });
  pages.form({ url: `${userPath(':id')}/sign-out`, fresh: 'never' }, (call) =>
    change(ctx, call, async (user) => {
      const session = call.typed('session');
      if (!isUuid(session)) return 'gone';
      const owner = { ...selfOf(user), partnerId: user.partner_id, email: user.email };
      const revoked = await endUserSession(ctx, call.actor, owner, session);
      return revoked ? 'signed_out' : 'gone';
    }),
  );
  pages.form({ url: `${userPath(':id')}/passkeys`, fresh: 'always' }, (call) =>
    change(ctx, call, async (user) => {
      const team: Team | null =
        user.partner_slug === null ? 'operators' : await scopeOfPartner(ctx.db, user.partner_slug, true);
      if (team === null) return 'gone';
      const removal = { isHolder: ({ id }: { id: string }) => id === user.id, place: user.partner_name ?? serviceName };
      const removed = await removePasskeysOf(ctx, call.actor, team, removal, call.words);
      return removed > 0 ? 'passkeys' : 'gone';
    }),
  );
}

const selfOf = ({ id, partner_id }: ListedUser) => ({
  kind: partner_id === null ? ('operator' as const) : ('partner_user' as const),
  userId: id,
});

/**
 * Runs an act on another user. Operators manage their own sessions and passkeys on a page of their own,
 * `/admin/sessions`.
 */
async function change(ctx: Context, call: AdminCall, work: (user: ListedUser) => Promise<string>) {
  const user = await readAnyUser(ctx, call.param('id'));
  if (!user || user.id === call.operator.userId) return sendNotFound(call.reply);
  return call.done(userPath(user.id), await work(user));
}

async function show(ctx: Context, call: AdminCall, user: ListedUser) {
  const { words, operator } = call;
  const admin = adminTexts(words);
  const { account } = signInTexts(words);
  const { users: t } = admin;
  const [sessions, passkeys] = await Promise.all([
    listUserSessions(ctx, selfOf(user)),
    listPasskeys(ctx, { userId: user.id }),
  ]);
  const isSelf = user.id === operator.userId;
  const notices = { signed_out: account.signedOutThere, passkeys: t.passkeysRemoved };
  return call.show({
    path: userPath(user.id),
    title: user.email,
    body: html`
      ${flashOf(call, { done: notices, refused: { gone: t.gone } })}
      ${card(about(words, user))}
      <h2>${t.sessions}</h2>
      <div class="list" data-live="${adminEventsPath}" data-region="sessions">
        ${
          sessions.length > 0 ? sessionTable(words, user, sessions, isSelf) : emptyState(t.noSessions, t.noSessionsRest)
        }
      </div>
      <h2>${signInTexts(words).passkey.heading}</h2>
      <div class="list" data-region="passkeys">
        ${passkeys.length > 0 ? passkeyTable(words, passkeys) : emptyState(t.noPasskeys, t.noPasskeysRest)}
      </div>
      ${
        isSelf
          ? html`<p><a href="/admin/sessions">${t.ownSessions}</a></p>`
          : passkeys.length > 0 && removeForm(words, user)
      }
      <p><a href="/admin/users">${admin.places.users}</a></p>
    `,
  });
}

/** Whether a user may sign in, and has. The portal's team page says the same. */
export function userState(words: Words, { disabled_at, last_sign_in_at }: ListedUser): Html {
  const isInvited = disabled_at === null && last_sign_in_at === null;
  return isInvited ? badge('waiting', adminTexts(words).users.notYet) : onOff(words, disabled_at === null);
}

function about(words: Words, user: ListedUser): Html {
  const admin = adminTexts(words);
  const { account } = signInTexts(words);
  const { users: t } = admin;
  const team =
    user.partner_slug === null
      ? t.operators
      : html`<a href="/admin/partners/${user.partner_slug}">${user.partner_name}</a>`;
  return descriptionList([
    [t.team, team],
    [t.role, user.role === null ? t.operator : account.roles[user.role]],
    [t.lastSignIn, user.last_sign_in_at === null ? t.never : instant(words, user.last_sign_in_at)],
    [admin.state, userState(words, user)],
  ]);
}

function sessionTable(words: Words, { id: userId }: ListedUser, rows: SessionView[], isSelf: boolean): Html {
  const { account: t } = signInTexts(words);
  const admin = adminTexts(words);
  const out = (id: string) =>
    form({ action: `${userPath(userId)}/sign-out`, hidden: { session: id }, submit: t.signOutThere, second: true });
  return table<SessionView>(
    admin.users.sessions,
    [
      { name: t.browser, cell: ({ user_agent }) => (user_agent === null ? t.unknownBrowser : browserName(user_agent)) },
      { name: t.from, cell: ({ ip }) => ip },
      { name: t.since, cell: ({ created_at }) => instant(words, created_at) },
      { name: t.lastSeen, cell: ({ last_seen_at }) => instant(words, last_seen_at) },
      actionsColumn(words, ({ id }) => (isSelf ? null : out(id))),
    ],
    rows,
  );
}

function passkeyTable(words: Words, rows: Passkey[]): Html {
  const { passkey: t } = signInTexts(words);
  return table<Passkey>(
    t.heading,
    [
      { name: t.name, cell: ({ name }) => name },
      { name: t.created, cell: ({ created_at }) => instant(words, created_at) },
      {
        name: t.lastUsed,
        cell: ({ last_used_at: at }) => (at === null ? t.never : instant(words, at)),
      },
    ],
    rows,
  );
}

function removeForm(words: Words, { id, email }: ListedUser): Html {
  const { label, title, rest } = portalTexts(words).team.removePasskeys;
  const question = { label, title: fill(title, { email }), consequence: rest, danger: true as const };
  return confirmButton({ ...question, action: `${userPath(id)}/passkeys` }, null);
}
