import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/db/connection.ts';
import { startApp } from '../support/app.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';
import { invitePartnerUser, signInOperator, signInPartnerUser } from '../support/people/people.ts';
import { type Posted, postForm } from '../support/people/portal-post.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

/** A partner with two owners, of whom the second is signed in. */
async function twoOwners() {
  const fixtures = await makePartner(app.db);
  await invitePartnerUser(app.ctx, fixtures);
  const { user, visitor } = await signInPartnerUser(app, fixtures);
  return {
    fixtures,
    user,
    send: (path: string, fields: [string, string][]) => postForm(app.url, visitor, path, fields),
  };
}
type Team = Awaited<ReturnType<typeof twoOwners>>;

/**
 * Sends a form, and takes the sender's access away while it waits.
 *
 * @param take locks what the act of the form needs, and takes the access away
 */
async function whileTaken<T>(take: (tx: Tx) => Promise<unknown>, send: () => Promise<T>): Promise<T> {
  let sent: Promise<T> | undefined;
  await app.db.transaction(async (tx) => {
    await take(tx);
    sent = send();
    await until(async () => {
      const [row] = await app.owner<{ waiting: boolean }[]>`
        select exists (select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock') as waiting`;
      return row?.waiting === true;
    }, 'the act waits');
  });
  return sent as Promise<T>;
}

/** The same for a partner's user, who is given another role. */
function whileChanged(team: Team, hold: (tx: Tx) => Promise<unknown>, send: () => Promise<Posted>): Promise<Posted> {
  return whileTaken(async (tx) => {
    await hold(tx);
    await tx`update users set role = 'viewer' where id = ${team.user.id}`;
  }, send);
}

const roleOf = async ({ user }: Team) => {
  const [row] = await app.db.sql<{ role: string }[]>`select role from users where id = ${user.id}`;
  return row?.role;
};

/** Asserts that the page says what happened and leads on. */
function saysSo({ status, html }: Posted, realm = '/portal') {
  assert.equal(status, 403);
  assert.match(html, /Your access has changed/);
  assert.match(html, /another role[^<]*nothing was changed/);
  assert.ok(html.includes(`<a href="${realm}">Back to the overview`), html);
}

test('An owner who is demoted while its own change of roles waits does not become an owner again', async () => {
  const team = await twoOwners();
  const answer = await whileChanged(
    team,
    () => Promise.resolve(),
    () =>
      team.send('/portal/team/role?mode=test', [
        ['user', team.user.id],
        ['role', 'owner'],
      ]),
  );
  saysSo(answer);
  assert.equal(await roleOf(team), 'viewer');
});

test('An owner who is demoted while its invitation waits invites nobody', async () => {
  const team = await twoOwners();
  const { id } = team.fixtures.partner;
  const answer = await whileChanged(
    team,
    (tx) => tx`select pg_advisory_xact_lock(hashtextextended(${`team ${id}`}, 0))`,
    () =>
      team.send('/portal/team?mode=test', [
        ['email', 'friend@example.com'],
        ['role', 'owner'],
      ]),
  );
  saysSo(answer);
  const friends = await app.db.sql`select from users where partner_id = ${id} and email = 'friend@example.com'`;
  assert.equal(friends.length, 0);
  const mails = await app.db.sql`select from mails where recipient = 'friend@example.com'`;
  assert.equal(mails.length, 0);
});

test('An owner who is demoted while a live key is made or revoked makes and revokes none', async () => {
  const team = await twoOwners();
  const { partner, live } = team.fixtures;
  const { key_id } = await makeKey(app.db, live);
  const endOfLog = (tx: Tx) => tx`select from audit_chains where partner_id = ${partner.id} for update`;
  const keys = () => app.db.sql`select id, revoked_at from api_keys where partner_id = ${partner.id}`;
  const before = await keys();
  const made = await whileChanged(team, endOfLog, () =>
    team.send('/portal/keys?mode=live', [['scopes', 'requests:read']]),
  );
  saysSo(made);
  await app.db.sql`update users set role = 'owner' where id = ${team.user.id}`;
  const revoked = await whileChanged(team, endOfLog, () =>
    team.send('/portal/keys/revoke?mode=live', [['key', key_id]]),
  );
  saysSo(revoked);
  assert.deepEqual(await keys(), before);
});

test('An owner who is removed while a live key is made makes none', async () => {
  const team = await twoOwners();
  const { id } = team.fixtures.partner;
  const answer = await whileTaken(
    async (tx) => {
      await tx`select from audit_chains where partner_id = ${id} for update`;
      await tx`update users set disabled_at = now() where id = ${team.user.id}`;
    },
    () => team.send('/portal/keys?mode=live', [['scopes', 'requests:read']]),
  );
  saysSo(answer);
  assert.equal((await app.db.sql`select from api_keys where partner_id = ${id} and not test_mode`).length, 0);
});

test('An owner gives up its role while the only other owner is removed → it waits, and stays the owner', async () => {
  const team = await twoOwners();
  await whileTaken(
    (tx) => tx`
      update users set disabled_at = now() where partner_id = ${team.fixtures.partner.id} and id <> ${team.user.id}`,
    () =>
      team.send('/portal/team/role?mode=test', [
        ['user', team.user.id],
        ['role', 'viewer'],
      ]),
  );
  assert.equal(await roleOf(team), 'owner');
});

test('An owner may still give up its own role, and remove itself', async () => {
  const team = await twoOwners();
  const fields: [string, string][] = [['user', team.user.id]];
  const role = await team.send('/portal/team/role?mode=test', [...fields, ['role', 'viewer']]);
  assert.equal(role.location, '/portal/team?done=role_changed');
  assert.equal(await roleOf(team), 'viewer');
  await app.db.sql`update users set role = 'owner' where id = ${team.user.id}`;
  const removed = await team.send('/portal/team/remove?mode=test', fields);
  assert.equal(removed.location, '/portal/team?done=removed');
});

/** Sends a form of the administration, whose sender is disabled while it waits. */
async function whileDisabled(path: string, fields: Record<string, string>, hold: (tx: Tx) => Promise<unknown>) {
  const { user, visitor } = await signInOperator(app);
  const disable = async (tx: Tx) => {
    await hold(tx);
    await tx`update users set disabled_at = now() where id = ${user.id}`;
  };
  return whileTaken(disable, () => postForm(app.url, visitor, path, Object.entries(fields)));
}

test('An operator who is disabled while an act of theirs waits invites nobody and switches no partner off', async () => {
  const invited = await whileDisabled(
    '/admin/users/invite',
    { email: 'accomplice@example.com' },
    (tx) => tx`select pg_advisory_xact_lock(hashtextextended('team null', 0))`,
  );
  saysSo(invited, '/admin');
  assert.equal((await app.db.sql`select from users where email = 'accomplice@example.com'`).length, 0);
  const { partner } = await makePartner(app.db);
  const switched = await whileDisabled(
    `/admin/partners/${partner.slug}/switch`,
    { to: 'off' },
    (tx) => tx`select from partners where id = ${partner.id} for update`,
  );
  saysSo(switched, '/admin');
  const [row] = await app.db.sql`select disabled_at from partners where id = ${partner.id}`;
  assert.equal(row?.disabled_at, null);
});
