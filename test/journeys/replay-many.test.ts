import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openOne } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

test('More failed events than one resend takes › the page says that there are more, until none is left', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const sql = openOne(app.databaseUrl, { session_replication_role: 'replica' }); // without requests
  await sql`
    insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, state, attempts, next_attempt_at)
    select ${scope.partnerId}, true, gen_random_uuid(), gen_random_uuid(), 'payment.proof_verified', '{}', 'exhausted', 12, now()
    from generate_series(1, 20000)`;
  await sql.end();
  const path = '/portal/webhooks/deliveries';
  const resend = async () =>
    owner.send(await owner.open(path), '/replay?mode=test', {
      since: new Date(Date.now() - 3_600_000).toISOString().slice(0, 16),
    });
  const first = await resend();
  assert.match(
    first.html,
    /Resending 10,000 events\. More events have failed since then\. Resend again for the next ones\./,
  );
  const second = await resend();
  assert.match(second.html, /Resending 10,000 events\./);
  assert.doesNotMatch(second.html, /More events have failed/);
  assert.match((await resend()).html, /Resending 0 events\./);
});
