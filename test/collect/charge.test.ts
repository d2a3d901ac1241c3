import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

let of: CollectFixtures;
before(async () => {
  of = await collectFixtures();
});
after(() => of?.stop());

test('A date of a plan is charged from the wallet of its customer, and nobody is asked to pay', async () => {
  const plan = await of.plan({ metadata: '{"order":"A-1042"}' });
  const payer = await of.payer(100_000_000n);
  await of.agree(plan, payer);
  await of.turn();
  const [request] = await of.requests(plan);
  assert.ok(request);
  const [collection] = await of.collections(plan);
  assert.deepEqual([collection?.state, collection?.attempts, collection?.reason], ['charged', 0, null]);
  assert.deepEqual(
    [request.proof_status, request.payer_address, request.metadata],
    ['verified', payer.address, '{"order":"A-1042"}'],
  );
  assert.equal(await of.balance(of.merchant.wallet), BigInt(request.usdc_micro));
  assert.equal(await of.balance(payer.address), 100_000_000n - BigInt(request.usdc_micro));
  const [transfer] = await of.db.sql`select rule from transfers where request_id = ${request.id}`;
  assert.equal(transfer?.rule, 'charge');
  assert.equal((await of.mails()).length, 0, 'no mail asks for the money');
  const minutes = (request.expires_at.getTime() - request.created_at.getTime()) / 60_000;
  assert.equal(Math.round(minutes), 43_200);
  const [event] = await of.db.sql`select body from webhook_deliveries where request_id = ${request.id}`;
  assert.deepEqual(JSON.parse(event?.body).metadata, { order: 'A-1042' });
});
