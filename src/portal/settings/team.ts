import type { FastifyReply } from 'fastify';
import { hostOwner } from '../../auth/host.ts';
import { isRole } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { portalTexts } from '../../texts/portal.ts';
import { signInTexts } from '../../texts/sign-in.ts';
import { badge, field, hiddenField, selectField } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { ago } from '../../ui/formats.ts';
import { fill } from '../../ui/language.ts';
import { changeRole, setUserDisabled } from '../../users/change.ts';
import { inviteUser } from '../../users/invite.ts';
import { passkeyHolders, removePasskeysOf } from '../../users/passkeys/passkeys.ts';
import { listUsers, type User } from '../../users/read.ts';
import { UserRefusal, type UserRefusalReason } from '../../users/refusal.ts';
import { roleOptions } from '../../users/role-options.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { flashOf } from '../../web/flash.ts';
import { actionsColumn, csvLink, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

const path = '/portal/team';
const csvPath = '/portal/team.csv';
/** The input of an invitation, and why nobody was invited. */
type InvitationForm = { email: string; role: string; reason: UserRefusalReason };

/**
 * `/portal/team`: the users with their roles. Invites users, changes roles, removes passkeys, disables and enables
 * users.
 */
export function teamPages(pages: PortalPages, ctx: Context): void {
  pages.page({ url: path, permission: 'team' }, (call) => showTeam(ctx, call, null));

  pages.page({ url: csvPath, permission: 'team' }, async ({ scope, reply }) =>
    sendCsv(reply, 'team', csvHeader, csvOf(everybody(ctx, scope), csvRow)),
  );

  pages.form({ url: path, permission: 'team', fresh: 'always' }, async (call) => {
    const { scope, user, actor, words, request, typed } = call;
    const [email, role] = [typed('email'), typed('role')];
    if (!isRole(role)) throw refuse('not_found');
    const host = hostOwner(ctx.config, request.headers.host) ?? null;
    try {
      const invitation = { email, role, place: user.partner.name, host };
      await inviteUser(ctx, actor, scope, invitation, words);
    } catch (error) {
      if (!(error instanceof UserRefusal)) throw error;
      return showTeam(ctx, call, { email, role, reason: error.reason });
    }
    return call.done(path, 'invited');
  });

  const change = (name: string, work: (call: PortalCall, userId: string) => Promise<string>) =>
    pages.form({ url: `${path}/${name}`, permission: 'team', fresh: 'always' }, async (call) => {
      const id = call.typed('user').toLowerCase();
      if (!isUuid(id)) throw refuse('not_found');
      try {
        return call.done(path, await work(call, id));
      } catch (error) {
        if (!(error instanceof UserRefusal)) throw error;
        return call.done(path, error.reason);
      }
    });
  change('role', async ({ scope, actor, typed }, id) => {
    const role = typed('role');
    if (!isRole(role)) throw refuse('not_found');
    await changeRole(ctx, actor, scope, { userId: id, role });
    return 'role_changed';
  });
  change('remove', async ({ scope, actor }, id) => {
    await setUserDisabled(ctx, actor, scope, { userId: id, disabled: true });
    return 'removed';
  });
  change('restore', async ({ scope, actor }, id) => {
    await setUserDisabled(ctx, actor, scope, { userId: id, disabled: false });
    return 'restored';
  });
  change('passkeys', async ({ scope, user, actor, words }, id) => {
    // A user removes their own passkeys on the page of their sessions, which requires a passkey or a fresh sign-in.
    if (id === user.userId) throw refuse('not_found');
    const removal = { isHolder: (one: User) => one.id === id, place: user.partner.name };
    await removePasskeysOf(ctx, actor, scope, removal, words);
    return 'passkeys_removed';
  });
}

async function showTeam(ctx: Context, call: PortalCall, typed: InvitationForm | null): Promise<FastifyReply> {
  const { words, scope, reply } = call;
  const portal = portalTexts(words);
  const { account } = signInTexts(words);
  const [users, holders] = await Promise.all([listUsers(ctx, scope), passkeyHolders(ctx, scope)]);
  return sendPortal(ctx, reply, call, {
    path,
    title: portal.places.team,
    status: typed ? 400 : 200,
    body: html`
      ${flashOf(call, { done: portal.team.done, refused: account.refusals })}
      ${inviteForm(call, typed)}
      <div class="list" data-live="${portalEventsPath(call.mode)}" data-region="list">
        ${userTable(call, users, holders, ctx.clock.now())}
      </div>
      ${csvLink(words, csvPath)}
      <p><a href="/portal/sessions">${account.sessions}</a></p>
    `,
  });
}

function inviteForm(call: PortalCall, typed: InvitationForm | null): Html {
  const { account } = signInTexts(call.words);
  const portal = portalTexts(call.words);
  const { team } = portal;
  return html`
    <details class="card"${typed && html` open`}>
      <summary>${team.invite}</summary>
      ${form({
        action: actionIn(call, path),
        inside: html`
          <p class="quiet">${team.inviteRest}</p>
          ${field({
            name: 'email',
            label: team.email,
            value: typed?.email ?? null,
            fault: typed ? account.refusals[typed.reason] : undefined,
            attributes: 'type="email" required maxlength="254" autocomplete="off"',
          })}
          ${selectField({
            name: 'role',
            label: team.role,
            hint: team.roleRest,
            options: roleOptions(call.words, typed?.role ?? 'developer'),
          })}
        `,
        submit: team.inviteDo,
      })}
    </details>
  `;
}

function userTable(call: PortalCall, users: User[], holders: Set<string>, now: Date): Html {
  const { words, user: self } = call;
  const portal = portalTexts(words);
  const { account } = signInTexts(words);
  const { team } = portal;
  return table<User>(
    portal.places.team,
    [
      {
        name: team.email,
        cell: ({ email, id }) =>
          html`<span>${email}${id === self.userId && html` <span class="quiet">${team.you}</span>`}</span>`,
      },
      {
        name: team.role,
        cell: (user) => (user.disabled_at ? account.roles[user.role ?? 'viewer'] : roleForm(call, user)),
      },
      {
        name: portal.requests.state,
        cell: ({ disabled_at, last_sign_in_at }) => {
          if (disabled_at) return badge('ended', team.off);
          return last_sign_in_at ? badge('paid', team.active) : badge('waiting', team.invited);
        },
      },
      {
        name: team.lastSignIn,
        cell: ({ last_sign_in_at: at }) => (at ? ago(words, at, now) : null),
      },
      actionsColumn(
        call.words,
        (user) =>
          html`
            <div class="row">
              ${holders.has(user.id) && user.id !== self.userId && passkeysForm(call, user)}
              ${switchForm(call, user)}
            </div>
          `,
      ),
    ],
    users,
  );
}

function roleForm(call: PortalCall, { id, email, role }: User): Html {
  const { team } = portalTexts(call.words);
  return form({
    action: actionIn(call, `${path}/role`),
    class: 'inline',
    hidden: { user: id },
    inside: html`
      <select name="role" aria-label="${fill(team.roleOf, { email })}">
        ${roleOptions(call.words, role ?? 'viewer')}
      </select>
    `,
    submit: team.roleDo,
    second: true,
  });
}

function passkeysForm(call: PortalCall, { id, email }: User): Html {
  const { words } = call;
  const { label, title, rest } = portalTexts(words).team.removePasskeys;
  const act = { label, title: fill(title, { email }), consequence: rest, danger: true as const };
  return confirmButton({ ...act, action: actionIn(call, `${path}/passkeys`) }, hiddenField('user', id));
}

function switchForm(call: PortalCall, { id, email, disabled_at }: User): Html {
  const { words } = call;
  const { remove, restore } = portalTexts(words).team;
  const [act, to] = disabled_at ? [restore, 'restore'] : [remove, 'remove'];
  return confirmButton(
    {
      label: act.label,
      title: fill(act.title, { email }),
      consequence: act.rest,
      action: actionIn(call, `${path}/${to}`),
      ...(!disabled_at && { danger: true as const }),
    },
    hiddenField('user', id),
  );
}

/** A team is read in one batch, because its size is limited. */
async function* everybody(ctx: Context, scope: Scope): AsyncGenerator<User[]> {
  yield await listUsers(ctx, scope);
}

const csvHeader = ['user_id', 'email', 'role', 'invited_at', 'last_sign_in_at', 'removed_at'];

const csvRow = ({ id, email, role, created_at, last_sign_in_at, disabled_at }: User): CsvRow => [
  ...[id, email, role, created_at, last_sign_in_at, disabled_at],
];
