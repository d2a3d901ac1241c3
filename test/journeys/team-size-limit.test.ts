import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { setUserDisabled } from '../../src/users/change.ts';
import { inviteUser } from '../../src/users/invite.ts';
import { listUsers } from '../../src/users/read.ts';
import { UserRefusal } from '../../src/users/refusal.ts';
import { insertUser, lockTeam } from '../../src/users/store.ts';
import { maxTeam } from '../../src/users/team.ts';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { until } from '../support/until.ts';

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
  const { id: lastId, asked } = await app.db.transaction(async (tx) => {
    await lockTeam(tx, partner.id);
    const last = { id: randomUUID(), partner_id: partner.id, email: 'y@example.com', created_at: new Date() };
    await insertUser(tx, { ...last, role: 'owner' });
    let isOver = false;
    const asked = invite(team, 'z@example.com')
      .then(
        () => 'joined',
        (error) => (error instanceof UserRefusal ? error.reason : error),
      )
      .finally(() => {
        isOver = true;
      });
    const isWaiting = async () => {
      const waiting = await tx`
        select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      return waiting.length > 0;
    };
    await until(async () => isOver || (await isWaiting()), 'the invitation waits for the team, or has been decided');
    return { id: last.id, asked };
  });
  assert.equal(await asked, 'team_full');

  const page = await owner.open('/portal/team');
  assert.ok(page.html.includes('y@example.com'));
  assert.ok((await setUserDisabled(app.ctx, theService, team, { userId: lastId, disabled: true })).disabled_at);
  await app.db.sql`delete from rate_counters where action = 'user_invite'`;
  const again = await owner.send(page, '/portal/team?mode=test', { email: 'zz@example.com', role: 'owner' });
  assert.equal(again.status, 400);
  assert.match(again.html, /A team has at most 1,000 people, counting those who were removed/);
  assert.equal((await listUsers(app.ctx, team)).length, maxTeam);
  // An existing member of the team gets another link.
  assert.equal((await invite(team, 'a1@example.com').catch((error) => error.reason)) as unknown, 'role_differs');
});
