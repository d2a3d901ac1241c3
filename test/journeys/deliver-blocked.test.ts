import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { createDeliveryDeps, startDelivering } from '../../src/webhooks/deliver.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { countDue } from '../../src/webhooks/stuck.ts';
import { attemptRows, deliveryRow, deliveryStage, endpointRow, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { type Behaviour, behaviours } from '../support/net/receiver.ts';
import { until } from '../support/until.ts';

let stage: Awaited<ReturnType<typeof deliveryStage>>;
before(async () => {
  stage = await deliveryStage();
});
after(() => stage?.stop());

async function partnerWith(behave: Behaviour) {
  const receiver = await stage.receiver({ behave });
  const { test: scope } = await makePartner(stage.db);
  await setUrl(stage.ctx, theService, scope, receiver.url);
  return { receiver, scope };
}

test('A transaction keeps a failing endpoint locked → deliveries of others are recorded meanwhile, and its own afterwards', async () => {
  const slow = await partnerWith(behaviours.status(500));
  const other = await partnerWith(behaviours.status(200));
  const ending = new AbortController();
  const running = startDelivering(stage.ctx, ending.signal, createDeliveryDeps(stage.ctx), 50);
  try {
    const [held = ''] = await stage.owner.begin(async (tx) => {
      await tx`select from webhook_endpoints where partner_id = ${slow.scope.partnerId} for update`;
      const ids = await makeEvents(stage.db, slow.scope);
      await until(() => slow.receiver.received.length === 1, 'the attempt that cannot be recorded');
      const [id = ''] = await makeEvents(stage.db, other.scope);
      await until(async () => (await deliveryRow(stage.db, id)).state === 'delivered', 'the other’s record');
      assert.equal((await attemptRows(stage.db, ids[0] ?? '')).length, 0);
      return ids;
    });
    await until(async () => (await attemptRows(stage.db, held)).length === 1, 'its own record');
    assert.equal((await endpointRow(stage.db, slow.scope)).failures, 1);
    const { attempts, lease } = await deliveryRow(stage.db, held);
    assert.deepEqual([attempts, lease], [1, null]);
  } finally {
    ending.abort();
    await running;
  }
});

test('Events of a partner without a URL, with a disabled or a failing endpoint → not among the deliveries that are due', async () => {
  const due = () => countDue(stage.ctx, 100);
  const before = await due();
  const { test: scope } = await makePartner(stage.db);
  await makeEvents(stage.db, scope);
  assert.equal(await due(), before, 'it asks for no events');
  await setUrl(stage.ctx, theService, scope, 'http://127.0.0.1:9/');
  assert.equal(await due(), before + 1);
  const { sql } = stage.db;
  await sql`update webhook_endpoints set failures = 10 where partner_id = ${scope.partnerId}`;
  assert.equal(await due(), before, 'they wait for its probe');
  await sql`update webhook_endpoints set failures = 0, disabled_at = now() where partner_id = ${scope.partnerId}`;
  assert.equal(await due(), before);
});

test('More events wait than are made due at a time → all are due once the URL is set, not in one long statement', async () => {
  const { test: scope } = await makePartner(stage.db);
  await setUrl(stage.ctx, theService, scope, 'http://127.0.0.1:9/');
  const [id = ''] = await makeEvents(stage.db, scope);
  await stage.owner.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica'); // there are no requests of these events
    await tx`
      insert into webhook_deliveries
      select r.* from generate_series(1, 5000) n, webhook_deliveries d, jsonb_populate_record(d, jsonb_build_object(
        'id', gen_random_uuid(), 'request_id', gen_random_uuid(), 'next_attempt_at', now() + (3600 + n) * interval '1 s')) r
      where d.id = ${id}`;
  });
  await setUrl(stage.ctx, theService, scope, 'http://127.0.0.1:9/other');
  const [row] = await stage.db.sql`
    select count(*) filter (where next_attempt_at > now())::int as later, count(distinct xmin::text)::int as transactions
    from webhook_deliveries where partner_id = ${scope.partnerId}`;
  assert.equal(row?.later, 0);
  assert.ok(row?.transactions > 3, `${row?.transactions} transactions`);
});
