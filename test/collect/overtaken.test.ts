import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { dispatch } from '../../src/chain/relay/relay.ts';
import type { Context } from '../../src/context.ts';
import { matchPending } from '../../src/payments/match.ts';
import { upsertSubmitted } from '../../src/payments/submitted/store.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { collectDue } from '../../src/plans/collect/run.ts';
import { pausePlan } from '../../src/plans/lifecycle.ts';
import { endMandate } from '../../src/plans/mandates/end.ts';
import { testRelayer } from '../support/chain/relayer.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

// A charge has its nonce and is not signed, or no endpoint has it: its signer is away, or its chain was removed from
// CHAINS_FILE. What happens to its request meanwhile decides whether it still goes out.

let of: CollectFixtures;
/** A node whose signer does not answer. */
let unsigned: Context;
const running = new AbortController().signal;
before(async () => {
  of = await collectFixtures();
  const signers = [{ address: testRelayer.address, url: 'http://127.0.0.1:9' }];
  unsigned = { ...of.ctx, config: { ...of.ctx.config, relayer: { signers } } };
});
after(() => of?.stop());
/** Removes what earlier tests have left, so that it does not affect later ones. */
beforeEach(async () => {
  const { sql } = of.db;
  await sql`update collections set state = 'stopped', due_at = null, ended_at = now() where state in ('waiting', 'sent')`;
  await sql`update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null, failure = null, failed_at = null
    where state <> 'ended'`;
  await sql`delete from mails`;
});

const startMicro = 100_000_000n;

/** A plan whose charge has its nonce and is not signed. */
async function allotted() {
  const plan = await of.plan();
  const payer = await of.payer(startMicro);
  await of.agree(plan, payer);
  await chargeDue(of.ctx, running);
  await of.follow();
  assert.equal(await collectDue(unsigned, of.chain, running), 1);
  assert.deepEqual(await relayOf(plan), { state: 'allotted', variants: 0 });
  return { plan, payer };
}

async function relayOf(plan: { id: string }) {
  const [row] = await of.db.sql<{ state: string; variants: number }[]>`
    select t.state, (select count(*)::int from relay_variants v where v.relay_id = t.id) as variants
    from collections c join relay_transactions t on t.id = c.relay_id where c.plan_id = ${plan.id}`;
  return row;
}

const requestOf = async (plan: { id: string }) => {
  const [request] = await of.requests(plan);
  assert.ok(request);
  return request;
};

const stateOf = async (plan: { id: string }) => {
  const [row] = await of.collections(plan);
  return [row?.state, row?.reason, row?.attempts];
};

/** Somebody else pays the plan's request by its link. */
async function payManually(plan: { id: string }, usdcMicro?: bigint): Promise<void> {
  const { usdc_micro, wallet_address: to, reference } = await requestOf(plan);
  await of.node.pay({ from: of.node.wallet(), to, usdcMicro: usdcMicro ?? BigInt(usdc_micro), reference });
  await of.caughtUp();
  await matchPending(of.ctx);
}

/** The node with its signer goes on, until everything that it sent is final. */
async function goOn(): Promise<void> {
  await of.db.sql`
    update relay_transactions set allotted_at = now() - interval '1 hour', tried_at = now() - interval '1 hour',
      sent_at = now() - interval '1 hour', sent_head = 0 where state in ('allotted', 'sent')`;
  for (let pass = 0; pass < 3; pass++) await of.collect();
}

test('A charge waits for its signature, and the customer pays by link meanwhile → it is never sent, and the plan goes on', async () => {
  const { plan, payer } = await allotted();
  await payManually(plan);
  assert.equal((await requestOf(plan)).proof_status, 'attached');
  await goOn();
  assert.equal(await of.balance(payer.address), startMicro);
  assert.deepEqual(await stateOf(plan), ['paid', null, 0]);
  assert.equal((await of.mails()).length, 0, 'nobody is told of a failure');
  const [{ count } = { count: 0 }] = await of.db.sql<{ count: number }[]>`
    select count(*)::int as count from relay_transactions where state in ('allotted', 'sent', 'mined')`;
  assert.equal(count, 0, 'its nonce is used up');
});

test('A charge waits for its signature, and nothing happens to its request → it is made', async () => {
  const { plan, payer } = await allotted();
  await goOn();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
  assert.equal(await of.balance(payer.address), startMicro - BigInt((await requestOf(plan)).usdc_micro));
});

test('A charge waits for its signature, and a part is paid by link → only the rest is charged, at once', async () => {
  const { plan, payer } = await allotted();
  await payManually(plan, 5_000_000n);
  await goOn();
  await goOn();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
  assert.equal(await of.balance(payer.address), startMicro - BigInt((await requestOf(plan)).usdc_micro) + 5_000_000n);
});

test('A charge waits for its signature, and a payment is reported → it is held back like any other', async () => {
  const { plan, payer } = await allotted();
  const hint = {
    ...{ requestId: (await requestOf(plan)).id, chainId: of.chain.chainId, txHash: `0x${'ac'.repeat(32)}` },
    ...{ fromAddress: `0x${'cd'.repeat(20)}`, nonce: 0, seenBlock: 1, state: 'seen' as const, valueMicro: null },
  };
  await of.db.scoped(of.scope, (tx) => upsertSubmitted(tx, of.scope, hint));
  await goOn();
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen', 0]);
  assert.equal(await of.balance(payer.address), startMicro);
});

test('A charge waits for its signature, and the customer stops → it is not made, and the customer is asked', async () => {
  const { plan, payer } = await allotted();
  await endMandate(of.ctx, theService, of.scope, (await of.mandateOf(plan)).id, { reason: 'stopped_by_customer' });
  await goOn();
  assert.deepEqual(await stateOf(plan), ['asked', 'no_mandate', 0]);
  assert.equal(await of.balance(payer.address), startMicro);
});

test('A charge waits for its signature, and the merchant pauses the plan → it is stopped', async () => {
  const { plan, payer } = await allotted();
  await pausePlan(of.ctx, theService, { scope: of.scope, accountId: plan.account_id, id: plan.id });
  await goOn();
  assert.deepEqual(await stateOf(plan), ['stopped', 'plan_paused', 0]);
  assert.equal(await of.balance(payer.address), startMicro);
});

test('A charge waits for its signature, and the merchant or partner is disabled → it is not made until they are enabled', async () => {
  const { sql } = of.db;
  const switches = {
    merchant_disabled: (on: boolean) =>
      sql`update merchants set disabled_by_operator = ${on} where id = ${of.merchant.id}`,
    partner_disabled: (on: boolean) =>
      sql`update partners set disabled_at = ${on ? new Date() : null} where id = ${of.partner.id}`,
  };
  for (const [reason, disable] of Object.entries(switches)) {
    const { plan, payer } = await allotted();
    await disable(true);
    try {
      await goOn();
      assert.deepEqual(await stateOf(plan), ['waiting', reason, 0]);
      assert.equal(await of.balance(payer.address), startMicro);
    } finally {
      await disable(false);
    }
    await sql`update collections set due_at = now() where plan_id = ${plan.id}`;
    await goOn();
    assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
  }
});

test('A charge was signed and no endpoint has it, and the customer pays by link → a transfer of nothing takes its nonce', async () => {
  const { plan, payer } = await allotted();
  const away = { ...of.chain, rpcUrls: ['http://127.0.0.1:9'] };
  const relayId = (await of.collections(plan))[0]?.relay_id ?? '';
  await dispatch({ ...of.ctx, chains: { test: [away], live: [] } }, relayId);
  assert.deepEqual(await relayOf(plan), { state: 'sent', variants: 1 });
  await payManually(plan);
  await goOn();
  assert.equal(await of.balance(payer.address), startMicro);
  assert.deepEqual(await stateOf(plan), ['paid', null, 0]);
});

for (const [what, sentHead] of [
  ['offers too little to be mined', -10],
  ['waits while the chain makes no block', 1_000_000],
] as const)
  test(`A charge ${what}, and the customer pays by link → it is replaced, not sent again`, async () => {
    const { plan, payer } = await allotted();
    await of.rpc('evm_setAutomine', [false]);
    try {
      await of.db.sql`
        update relay_transactions set allotted_at = now() - interval '1 hour', tried_at = null where state = 'allotted'`;
      await of.follow();
      assert.deepEqual(await relayOf(plan), { state: 'sent', variants: 1 });
      await of.db.sql`update requests set proof_status = 'attached' where id = ${(await requestOf(plan)).id}`;
      await of.db.sql`
        update relay_transactions set sent_at = now() - interval '1 hour', sent_head = ${sentHead}
        where state = 'sent'`;
      await of.follow();
      assert.deepEqual(await relayOf(plan), { state: 'sent', variants: 2 });
    } finally {
      await of.rpc('evm_setAutomine', [true]);
    }
    await of.collect();
    assert.equal(await of.balance(payer.address), startMicro);
  });
