import { isRole } from '../../auth/roles.ts';
import { scopeOfPartner } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readPartner } from '../../partners/read.ts';
import { adminTexts } from '../../texts/admin.ts';
import { signInTexts } from '../../texts/sign-in.ts';
import { card, field, hiddenField, selectField } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { ago } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { browseUsers, exportUsers, type ListedUser, readAnyUser, type UserFilter } from '../../users/browse.ts';
import { changeRole, setUserDisabled } from '../../users/change.ts';
import { inviteUser } from '../../users/invite.ts';
import { serviceName } from '../../users/mails.ts';
import type { Team } from '../../users/read.ts';
import { UserRefusal } from '../../users/refusal.ts';
import { roleOptions } from '../../users/role-options.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { flashOf } from '../../web/flash.ts';
import { oneOf } from '../../web/query.ts';
import { actionsColumn, emptyState, pager, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminCall, AdminPages } from '../route.ts';
import { userPath, userState } from './user.ts';

const path = '/admin/users';
const names = ['q', 'partner', 'state', 'after'] as const;
const csvHeader = ['email', 'partner', 'role', 'created_at', 'last_sign_in_at', 'disabled_at'];

/**
 * `GET /admin/users`: the users of all partners and the operators. Invites users, changes roles, disables and enables
 * users.
 */
export function usersPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async (call) => {
    const { words, query } = call;
    const admin = adminTexts(words);
    const { account } = signInTexts(words);
    const wanted = query(names);
    const { rows, next } = await browseUsers(ctx, filterOf(wanted), wanted.after ?? null);
    const { users: t } = admin;
    const notices = { invited: t.invited, role: t.changed, off: t.switchedOff, on: t.switchedOn };
    const refused = { ...account.refusals, no_partner: t.noPartner, not_yourself: t.notYourself };
    const list = rows.length > 0 ? userTable(call, rows, ctx.clock.now()) : await noUsers(ctx, words, wanted);
    return call.show({
      path,
      title: admin.places.users,
      body: html`
        ${flashOf(call, { done: notices, refused })}
        ${filters(words, path, wanted, choices(words), `${path}.csv`)}
        <div class="list" data-live="${adminEventsPath}" data-region="list">
          ${list}
          ${pager(words, path, wanted, next)}
        </div>
        <div class="narrow">${inviteForm(words, wanted.partner)}</div>
      `,
    });
  });
  pages.page({ url: `${path}.csv` }, async ({ query, reply }) =>
    sendCsv(
      reply,
      'people',
      csvHeader,
      csvOf(exportUsers(ctx, filterOf(query(names))), (user) => [
        ...[user.email, user.partner_slug, user.role ?? 'operator', user.created_at, user.last_sign_in_at],
        user.disabled_at,
      ]),
    ),
  );
  userForms(pages, ctx);
}

function userForms(pages: AdminPages, ctx: Context): void {
  pages.form({ url: `${path}/invite`, fresh: 'always' }, (call) => act(call, () => invite(ctx, call)));
  pages.form({ url: `${path}/role`, fresh: 'always' }, (call) =>
    act(call, async () => {
      const { team, user } = await teamOf(ctx, call.typed('user'));
      const role = call.typed('role');
      if (team === 'operators' || !isRole(role)) throw new UserRefusal('user_unknown');
      await changeRole(ctx, call.actor, team, { userId: user.id, role });
      return 'role';
    }),
  );
  pages.form({ url: `${path}/switch`, fresh: 'always' }, async (call) => {
    const to = oneOf(switchStates, call.typed('to'));
    if (!to) return sendNotFound(call.reply);
    const off = to === 'off';
    return act(call, async () => {
      const { team, user } = await teamOf(ctx, call.typed('user'));
      // So there is always at least one active operator.
      if (off && user.id === call.operator.userId) return 'not_yourself';
      await setUserDisabled(ctx, call.actor, team, { userId: user.id, disabled: off });
      return off ? 'off' : 'on';
    });
  });
}

const switchStates = ['off', 'on'] as const;

/** Runs the act of a form. The list then shows the message for the word that it returns, or for its refusal. */
async function act(call: AdminCall, work: () => Promise<string>) {
  try {
    return call.done(path, await work());
  } catch (error) {
    if (!(error instanceof UserRefusal)) throw error;
    return call.done(path, error.reason);
  }
}

async function invite(ctx: Context, call: AdminCall): Promise<string> {
  const [email, slug, role] = [call.typed('email'), call.typed('team').toLowerCase(), call.typed('role')];
  if (slug === '') {
    await inviteUser(ctx, call.actor, 'operators', { email, role: null, place: serviceName, host: null }, call.words);
    return 'invited';
  }
  const [partner, team] = await Promise.all([readPartner(ctx.db, slug), scopeOfPartner(ctx.db, slug, true)]);
  if (!partner || !team) return 'no_partner';
  const invitation = { email, role: isRole(role) ? role : 'viewer', place: partner.name, host: slug };
  await inviteUser(ctx, call.actor, team, invitation, call.words);
  return 'invited';
}

/** A user of any team, with the team. */
async function teamOf(ctx: Context, id: string): Promise<{ team: Team; user: ListedUser }> {
  const user = await readAnyUser(ctx, id);
  if (!user) throw new UserRefusal('user_unknown');
  const team = user.partner_slug === null ? 'operators' : await scopeOfPartner(ctx.db, user.partner_slug, true);
  if (team === null) throw new UserRefusal('user_unknown');
  return { team, user };
}

/** A partner without any users gets another text than a filter that finds nothing. */
async function noUsers(ctx: Context, words: Words, { partner, ...others }: Record<string, string>): Promise<Html> {
  const { users, nothing, nothingRest } = adminTexts(words);
  const isNew = partner && Object.keys(others).length === 0 && (await readPartner(ctx.db, partner.toLowerCase()));
  return isNew ? emptyState(users.empty, users.emptyRest) : emptyState(nothing, nothingRest);
}

function filterOf({ q, partner, state }: Record<string, string>): UserFilter {
  return {
    ...(q && { search: q }),
    ...(partner && { partner: partner.toLowerCase() }),
    ...((state === 'on' || state === 'off') && { disabled: state === 'off' }),
  };
}

function choices(words: Words): Filter[] {
  const t = adminTexts(words);
  return [
    { kind: 'text', name: 'q', label: t.search, hint: t.users.email },
    { kind: 'text', name: 'partner', label: t.partner, hint: `${t.allPartners}, “operators”` },
    {
      kind: 'choice',
      name: 'state',
      label: t.state,
      options: [
        ['on', t.on],
        ['off', t.off],
      ],
    },
  ];
}

function userTable(call: AdminCall, rows: ListedUser[], now: Date): Html {
  const { words } = call;
  const admin = adminTexts(words);
  const { users: t } = admin;
  return table<ListedUser>(
    admin.places.users,
    [
      { name: t.email, cell: ({ id, email }) => html`<a href="${userPath(id)}">${email}</a>` },
      {
        name: t.team,
        cell: ({ partner_slug: slug, partner_name: name }) =>
          slug === null ? t.operators : html`<a href="/admin/partners/${slug}">${name}</a>`,
      },
      { name: t.role, cell: (user) => (user.role === null ? t.operator : roleForm(words, user)) },
      {
        name: t.lastSignIn,
        cell: ({ last_sign_in_at: at }) => (at === null ? t.never : ago(words, at, now)),
      },
      { name: admin.state, cell: (user) => userState(words, user) },
      actionsColumn(words, (user) => (user.id === call.operator.userId ? t.yourself : switchForm(words, user))),
    ],
    rows,
  );
}

function roleForm(words: Words, user: ListedUser): Html {
  const { users: t } = adminTexts(words);
  return form({
    action: `${path}/role`,
    class: 'inline',
    hidden: { user: user.id },
    inside: html`
      <label class="hidden" for="role-${user.id}">${t.newRole}</label>
      <select id="role-${user.id}" name="role">${roleOptions(words, user.role ?? '')}</select>
    `,
    submit: t.change,
    second: true,
  });
}

function switchForm(words: Words, { id, email, disabled_at }: ListedUser): Html {
  const admin = adminTexts(words);
  const action = `${path}/switch`;
  if (disabled_at !== null) {
    return form({ action, hidden: { user: id, to: 'on' }, submit: admin.switchOn, second: true });
  }
  const question = {
    label: admin.switchOff,
    title: fill(admin.users.offTitle, { email }),
    consequence: admin.users.offRest,
    action,
    danger: true as const,
  };
  return confirmButton(question, html`${hiddenField('user', id)}${hiddenField('to', 'off')}`);
}

function inviteForm(words: Words, partner: string | undefined): Html {
  const { users: t } = adminTexts(words);
  const team = partner === 'operators' ? '' : (partner ?? '');
  return card(html`
    <h2>${t.invite}</h2>
    ${form({
      action: `${path}/invite`,
      inside: html`
        ${field({
          name: 'email',
          label: t.email,
          attributes: 'type="email" required maxlength="254" autocomplete="off"',
        })}
        ${field({
          name: 'team',
          label: t.team,
          value: team,
          hint: t.teamRule,
          attributes: 'maxlength="40" autocapitalize="none"',
        })}
        ${selectField({
          name: 'role',
          id: 'role-new',
          label: t.role,
          hint: t.roleRule,
          options: roleOptions(words, 'owner'),
        })}
      `,
      submit: t.inviteDo,
    })}
  `);
}
