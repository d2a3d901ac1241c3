import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { collectDue } from '../../src/plans/collect/run.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';
import { secondEndpoint } from '../support/payments/second-endpoint.ts';

const never = new AbortController().signal;

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

test('RECURRING_CONTRACT is no longer set when charges are mined that were sent before → they pay their requests', async () => {
  // Two of one price: their amounts do not tell them apart from what somebody else might type.
  const plans = [await of.plan({ fiatInt: 1300 }), await of.plan({ fiatInt: 1300 })];
  for (const plan of plans) await of.agree(plan, await of.payer(100_000_000n));
  await chargeDue(of.ctx, never);
  await of.rpc('evm_setAutomine', [false]);
  assert.equal(await collectDue(of.ctx, of.chain, never), 2);
  const second = await secondEndpoint();
  second.endpoint.target = of.chain.rpcUrls[0] ?? '';
  of.chain.recurringContract = null;
  of.chain.rpcUrls.push(second.url);
  try {
    await of.rpc('evm_setAutomine', [true]);
    await of.node.mine(2);
    await of.caughtUp();
    await matchPending(of.ctx);
    await verifyFinal(of.ctx);
    for (const plan of plans) {
      const [request] = await of.requests(plan);
      assert.equal(request?.proof_status, 'verified');
    }
  } finally {
    of.chain.recurringContract = of.contract;
    of.chain.rpcUrls.pop();
    await second.stop();
  }
});
