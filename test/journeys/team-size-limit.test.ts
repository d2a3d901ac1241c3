import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { setUserDisabled } from '../../src/users/change.ts';
import { inviteUser } from '../../src/users/invite.ts';
import { listUsers } from '../../src/users/read.ts';
import { UserRefusal } from '../../src/users/refusal.ts';
import { maxTeam } from '../../src/users/team.ts';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

const invite = async (team: Scope, email: string) => {
  await app.db.sql`delete from rate_counters where action = 'user_invite'`;
  return inviteUser(app.ctx, theService, team, { email, role: 'owner', place: 'Tills', host: null }, wordsOf('en'));
};

test('A team has at most as many users as its list shows, also with concurrent invitations: everyone can be seen and removed', async () => {
  const { partner, test: team } = await makePartner(app.db);
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  await app.db.sql`
    insert into users (id, partner_id, email, role, created_at)
    select gen_random_uuid(), ${partner.id}, 'a' || n || '@example.com', 'viewer', now()
    from generate_series(1, ${maxTeam - 2}::int) n`;
  const asked = await Promise.allSettled(['y@example.com', 'z@example.com'].map((email) => invite(team, email)));
  const joined = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.user] : []));
  const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  assert.equal(joined.length, 1);
  assert.ok(refused[0] instanceof UserRefusal && refused[0].reason === 'team_full', String(refused[0]));

  const page = await owner.open('/portal/team');
  for (const { id, email } of joined) {
    assert.ok(page.html.includes(email));
    assert.ok((await setUserDisabled(app.ctx, theService, team, { userId: id, disabled: true })).disabled_at);
  }
  await app.db.sql`delete from rate_counters where action = 'user_invite'`;
  const again = await owner.send(page, '/portal/team?mode=test', { email: 'zz@example.com', role: 'owner' });
  assert.equal(again.status, 400);
  assert.match(again.html, /A team has at most 1,000 people, counting those who were removed/);
  assert.equal((await listUsers(app.ctx, team)).length, maxTeam);
  // An existing member of the team gets another link.
  assert.equal((await invite(team, 'a1@example.com').catch((error) => error.reason)) as unknown, 'role_differs');
});
