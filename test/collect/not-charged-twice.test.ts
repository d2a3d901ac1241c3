import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { heldKeys } from '../../src/chain/relay/relay.ts';
import type { Hex } from '../../src/chain/rpc.ts';
import type { Refusal } from '../../src/errors.ts';
import { dayMs, hourMs, minuteMs } from '../../src/lib/durations.ts';
import { resetOnboarding } from '../../src/onboarding/reset.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { upsertSubmitted } from '../../src/payments/submitted/store.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { claimDueCharges } from '../../src/plans/collect/queue-store.ts';
import { collectDue } from '../../src/plans/collect/run.ts';
import { endPlan, pausePlan, resumePlan } from '../../src/plans/lifecycle.ts';
import { endMandate } from '../../src/plans/mandates/end.ts';
import type { PlanRow } from '../../src/plans/read.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { makeMerchant, makePartner, makeTransfer } from '../support/fixtures.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';
import { moveTo } from '../support/payments/moved-time.ts';
import { until } from '../support/until.ts';

let of: CollectFixtures;
const running = new AbortController().signal;
before(async () => {
  of = await collectFixtures();
});
after(() => of?.stop());
/** Removes what earlier tests have left, so that it does not affect later ones. */
beforeEach(async () => {
  const { sql } = of.db;
  await sql`update collections set state = 'stopped', due_at = null, ended_at = now() where state in ('waiting', 'sent')`;
  await sql`update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null, failure = null, failed_at = null
    where state <> 'ended'`;
});

const stateOf = async (plan: { id: string }) => {
  const [row] = await of.collections(plan);
  return [row?.state, row?.reason];
};
const requestOf = async (plan: { id: string }) => {
  const [request] = await of.requests(plan);
  assert.ok(request);
  return request;
};

/** An automatic plan whose customer has agreed and holds enough. */
async function agreed(details: Parameters<typeof of.plan>[0] = {}) {
  const plan = await of.plan(details);
  const payer = await of.payer(100_000_000n);
  await of.agree(plan, payer);
  return { plan, payer };
}

/** Pays the plan's request in full from another wallet, not final yet. Returns the amount in micro units. */
async function payManually(plan: { id: string }): Promise<bigint> {
  const { usdc_micro, wallet_address: to, reference } = await requestOf(plan);
  const usdcMicro = BigInt(usdc_micro);
  await of.node.pay({ from: of.node.wallet(), to, usdcMicro, reference });
  await of.caughtUp();
  await matchPending(of.ctx);
  assert.equal((await requestOf(plan)).proof_status, 'attached');
  return usdcMicro;
}

const actOn = (plan: PlanRow) => ({ scope: of.scope, accountId: plan.account_id, id: plan.id });

test('After a manual partial payment the rest is charged, and the sum is exact', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  const request = await requestOf(plan);
  const hand = of.node.wallet();
  await of.node.pay({ from: hand, to: request.wallet_address, usdcMicro: 5_000_000n, reference: request.reference });
  await of.caughtUp();
  await collectDue(of.ctx, of.chain, running);
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen'], 'read but not matched');
  await matchPending(of.ctx);
  await of.forward(minuteMs + 1000);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
  assert.equal((await requestOf(plan)).proof_status, 'verified');
  const [sum] = await of.db.sql`
    select sum(value)::text as value from transfers where request_id = ${request.id} and counts`;
  assert.equal(sum?.value, request.usdc_micro);
  assert.equal(await of.balance(payer.address), 100_000_000n - BigInt(request.usdc_micro) + 5_000_000n);
});

test('The rest after a partial payment, sent by its amount and read but not matched → is not charged as well', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  const { id, wallet_address: to, reference } = await requestOf(plan);
  await of.node.pay({ from: of.node.wallet(), to, usdcMicro: 5_000_000n, reference });
  await of.caughtUp();
  await matchPending(of.ctx);
  const [rest] = await of.db.sql`select usdc_micro from reserved_rests where request_id = ${id}`;
  await of.node.pay({ from: of.node.wallet(), to, usdcMicro: BigInt(rest?.usdc_micro) });
  await of.caughtUp();
  await collectDue(of.ctx, of.chain, running);
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen']);
  await matchPending(of.ctx);
  assert.equal((await requestOf(plan)).proof_status, 'attached');
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('A payment that its sender has signed for is mined again after a reorganisation → is not charged as well', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  const request = await requestOf(plan);
  const from = of.node.wallet();
  const usdcMicro = BigInt(request.usdc_micro) + 3_000_000n;
  const txHash = await of.node.pay({ from, to: request.wallet_address, usdcMicro });
  await of.caughtUp();
  // As the reorganisation kept it, and before the transfer is matched again.
  await of.db.sql`
    insert into kept_bindings (chain_id, tx_hash, ordinal, partner_id, test_mode, request_id, rule, token_address,
      from_address, to_address, value)
    select chain_id, tx_hash, ordinal, partner_id, test_mode, ${request.id}, 'claim', token_address, from_address,
      to_address, value from transfers where tx_hash = ${txHash}`;
  await collectDue(of.ctx, of.chain, running);
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen']);
  await matchPending(of.ctx);
  assert.equal((await requestOf(plan)).proof_status, 'attached');
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('Transfers of a plan’s price are never matched, as CHAINS_FILE lacks their chain → only one since the request holds its charge back', async () => {
  const { plan } = await agreed();
  await chargeDue(of.ctx, running);
  const { usdc_micro: value } = await requestOf(plan);
  const leave = (block_time: Date) =>
    makeTransfer(of.db.sql, of.scope, of.merchant, { chain_id: 99, value, block_time });
  try {
    await leave(new Date(Date.now() + minuteMs));
    await collectDue(of.ctx, of.chain, running);
    assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen']);
    await of.db.sql`delete from transfers where chain_id = 99`;
    await leave(new Date(Date.now() - hourMs));
    await of.forward(2 * minuteMs);
    await of.collect();
    assert.deepEqual(await stateOf(plan), ['charged', null]);
  } finally {
    await of.db.sql`delete from transfers where chain_id = 99`;
  }
});

test('A request that was paid manually in full is not charged', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  await payManually(plan);
  await collectDue(of.ctx, of.chain, running);
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen']);
  await of.node.mine(2);
  await of.caughtUp();
  await verifyFinal(of.ctx);
  await of.forward(minuteMs + 1000);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['paid', null]);
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('A payment that a reorganisation removed holds a charge back, for an hour at most', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  const usdcMicro = await payManually(plan);
  await of.node.reorg(1);
  await of.caughtUp();
  assert.equal((await requestOf(plan)).proof_status, 'none');
  // The new blocks begin at the machine's own time.
  await moveTo(of, new Date(of.clock.now().getTime() + 59 * minuteMs), async () => {});
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen']);
  assert.equal(await of.balance(payer.address), 100_000_000n);
  await of.forward(2 * minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
  assert.equal(await of.balance(payer.address), 100_000_000n - usdcMicro);
});

test('A payment that its customer has signed is relayed, or mined and not read yet → is not charged as well; once it has failed, it is', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  const { id } = await requestOf(plan);
  const { partnerId, testMode } = of.scope;
  const { chainId } = of.chain;
  await of.db.sql`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
      purpose, subject_id, account_id, day, fee_wei)
    values (${partnerId}, ${testMode}, ${id}, ${chainId}, ${payer.address}, 0, ${of.token}, '', 1, 'authorization', ${id},
      ${of.merchant.id}, now(), 1)`;
  for (const state of ['allotted', 'sent', 'mined']) {
    await of.db.sql`
      update relay_transactions set state = ${state}, hash = ${state === 'allotted' ? null : '0x1'} where id = ${id}`;
    await of.db.sql`update collections set due_at = ${of.clock.now()} where request_id = ${id}`;
    await collectDue(of.ctx, of.chain, running);
    assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen'], state);
  }
  await of.db.sql`update relay_transactions set state = 'reverted', ended_at = now() where id = ${id}`;
  await of.db.sql`update collections set due_at = ${of.clock.now()} where request_id = ${id}`;
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
});

test('A payment that was reported and not mined holds a charge back, for a day at most', async () => {
  const { plan } = await agreed();
  await chargeDue(of.ctx, running);
  const request = await requestOf(plan);
  const hint = {
    ...{ requestId: request.id, chainId: of.chain.chainId, txHash: `0x${'ab'.repeat(32)}` },
    ...{ fromAddress: `0x${'cd'.repeat(20)}`, nonce: 0, seenBlock: 1, state: 'seen' as const, valueMicro: null },
  };
  await of.db.scoped(of.scope, (tx) => upsertSubmitted(tx, of.scope, hint));
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', 'payment_seen']);
  await of.db.sql`update payment_hints set heard_at = now() - interval '25 hours' where request_id = ${request.id}`;
  await of.forward(2 * minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
});

test('A merchant or partner that is disabled is not charged for; enabled again, it is', async () => {
  const { sql } = of.db;
  const merchant = await makeMerchant(of.db, of.scope, { currency: 'USD' });
  const plan = await of.plan({}, { scope: of.scope, merchant });
  const payer = await of.payer(100_000_000n);
  await of.agree(plan, payer);
  await chargeDue(of.ctx, running);
  await sql`update merchants set disabled_by_operator = true where id = ${merchant.id}`;
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', 'merchant_disabled']);
  await sql`update merchants set disabled_by_operator = false where id = ${merchant.id}`;
  await sql`update partners set disabled_at = now() where id = ${of.partner.id}`;
  await of.forward(hourMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', 'partner_disabled']);
  await sql`update partners set disabled_at = null where id = ${of.partner.id}`;
  assert.equal(await of.balance(payer.address), 100_000_000n);
  await of.forward(hourMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
});

test('A pause stops what waits for another attempt, and skips its dates; resumed, only the dates to come are charged', async () => {
  const plan = await of.plan({ period: 'week' });
  const payer = await of.payer(0n);
  await of.agree(plan, payer);
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['waiting', 'balance_low']);
  await of.node.fund(payer.address, 100_000_000n);
  await pausePlan(of.ctx, theService, actOn(plan));
  assert.deepEqual(await stateOf(plan), ['stopped', 'plan_paused']);
  await of.forward(10 * dayMs);
  await of.turn();
  await resumePlan(of.ctx, theService, actOn(plan));
  await of.turn();
  assert.equal(await of.balance(payer.address), 100_000_000n, 'neither the old date nor one of the pause');
  assert.equal((await of.requests(plan)).length, 1);
  assert.equal((await requestOf(plan)).status, 'requested', 'which can still be paid by its link');
  await of.forward(7 * dayMs);
  await of.turn();
  const states = (await of.collections(plan)).map(({ state }) => state);
  assert.deepEqual(states, ['stopped', 'charged']);
});

test('An ended plan charges nothing more, though its last charge is made after it has ended by itself', async () => {
  const ended = await agreed();
  await chargeDue(of.ctx, running);
  await endPlan(of.ctx, theService, actOn(ended.plan));
  await of.collect();
  assert.deepEqual(await stateOf(ended.plan), ['stopped', 'plan_ended']);
  assert.equal(await of.balance(ended.payer.address), 100_000_000n);
  const last = await agreed({ maxCharges: 1 });
  await of.turn();
  assert.deepEqual(await stateOf(last.plan), ['charged', null]);
});

test('A request that was cancelled is not charged', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  await cancelRequest(of.ctx, theService, of.scope, (await requestOf(plan)).id);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['stopped', 'request_cancelled']);
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('A charge is on its way › its request cannot be cancelled, nor its merchant reset, until the chain has decided', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  await collectDue(of.ctx, of.chain, running);
  const { id, usdc_micro, wallet_address: walletAddress } = await requestOf(plan);
  const cancel = () => cancelRequest(of.ctx, theService, of.scope, id);
  const reset = () => resetOnboarding(of.ctx, theService, of.scope, plan.account_id);
  const refused = ({ code, message, extra }: Refusal) => {
    assert.equal(code, 'cannot_cancel');
    assert.match(message, /on its way/);
    assert.equal((extra.request as { status: string }).status, 'requested');
    return true;
  };
  await assert.rejects(cancel, refused);
  assert.equal(await reset(), false);
  assert.equal((await requestOf(plan)).status, 'requested');

  // Final before its transfer is read, as while the watcher is behind.
  const relayed = (state: string) =>
    of.db.sql`update relay_transactions set state = ${state}, ended_at = case when ${state} = 'final' then now() end
      where subject_id = ${id}`;
  const [before] = await of.db.sql`select state, hash, chain_id from relay_transactions where subject_id = ${id}`;
  await relayed('final');
  await assert.rejects(cancel, refused);
  assert.equal(await reset(), false);
  // Read, but not matched.
  const merchant = { id: plan.account_id, wallet: walletAddress };
  const made = { tx_hash: before?.hash, chain_id: before?.chain_id, ordinal: 99 }; // the watcher may read the real one
  await makeTransfer(of.db.sql, of.scope, merchant, made);
  await assert.rejects(cancel, refused);
  await of.db.sql`delete from transfers where tx_hash = ${made.tx_hash} and ordinal = ${made.ordinal}`;
  await relayed(before?.state);

  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
  assert.equal((await requestOf(plan)).proof_status, 'verified');
  assert.equal(await of.balance(payer.address), 100_000_000n - BigInt(usdc_micro));
});

test('A request is cancelled while its charge is being stored → the cancel waits for that, and is refused', async () => {
  const { plan } = await agreed();
  await chargeDue(of.ctx, running);
  const { id } = await requestOf(plan);
  const mandate = await of.mandateOf(plan);
  const { charging, cancelling } = await of.owner.begin(async (tx) => {
    const waiting = (count: number) =>
      until(async () => {
        const rows = await of.db.sql`
          select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
        return rows.length === count;
      }, `${count} wait`);
    await tx`select from mandates where id = ${mandate.id} for update`;
    const charging = collectDue(of.ctx, of.chain, running);
    charging.catch(() => {}); // it is awaited below
    await waiting(1); // it holds the request
    const cancelling = cancelRequest(of.ctx, theService, of.scope, id);
    cancelling.catch(() => {}); // it is awaited below
    await waiting(2);
    return { charging, cancelling };
  });
  await assert.rejects(cancelling, { code: 'cannot_cancel' });
  assert.equal(await charging, 1);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null]);
});

test('A charge that moved nothing › its request can be cancelled', async () => {
  const { plan } = await agreed();
  await chargeDue(of.ctx, running);
  await collectDue(of.ctx, of.chain, running);
  const { id } = await requestOf(plan);
  await of.db.sql`update relay_transactions set state = 'reverted', ended_at = now() where subject_id = ${id}`;
  assert.equal((await cancelRequest(of.ctx, theService, of.scope, id)).status, 'voided');
});

test('A customer who stops between two attempts is asked by link', async () => {
  const { plan, payer } = await agreed();
  await chargeDue(of.ctx, running);
  await endMandate(of.ctx, theService, of.scope, (await of.mandateOf(plan)).id, { reason: 'stopped_by_customer' });
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['asked', 'no_mandate']);
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('a mandate of test mode → never charged for a live plan, and vice versa', async () => {
  const merchant = await makeMerchant(of.db, of.live, { currency: 'USD' });
  const plan = await of.plan({}, { scope: of.live, merchant });
  const payer = await of.payer(100_000_000n);
  // The live plan has a mandate on a chain that only test mode has.
  await of.agree(plan, payer, { payee: merchant.wallet as Hex });
  await of.turn();
  assert.equal((await of.collections(plan)).length, 0, 'live mode has no such chain');
  assert.equal(await of.balance(payer.address), 100_000_000n);
  const foreign = of.db.sql`
    insert into collections (partner_id, test_mode, request_id, plan_id, account_id, number, mandate_id, chain_id, due_at, made_at)
    select partner_id, true, request_id, plan_id, ${merchant.id}, number, gen_random_uuid(), 31337, now(), now()
    from plan_charges where plan_id = ${plan.id}`;
  await assert.rejects(foreign, { code: '23503' });
});

test('two nodes collect at the same time → one charge', async () => {
  const plans = [];
  for (let i = 0; i < 6; i++) plans.push(await agreed());
  await chargeDue(of.ctx, running);
  await of.follow();
  const sent = await Promise.all([1, 2, 3].map(() => collectDue(of.ctx, of.chain, running)));
  assert.equal(
    sent.reduce((sum, count) => sum + count, 0),
    6,
    sent.join(),
  );
  await of.collect();
  for (const { plan, payer } of plans) {
    assert.deepEqual(await stateOf(plan), ['charged', null]);
    assert.equal(await of.balance(payer.address), 100_000_000n - BigInt((await requestOf(plan)).usdc_micro));
  }
});

test('A partner with many charges due holds up no other: partners take turns, also where theirs waited longer', async () => {
  for (let i = 0; i < 15; i++) await agreed();
  await chargeDue(of.ctx, running);
  const { test: other } = await makePartner(of.db, { currency: 'USD' });
  const merchant = await makeMerchant(of.db, other, { currency: 'USD' });
  const plan = await of.plan({}, { scope: other, merchant });
  await of.agree(plan, await of.payer(100_000_000n));
  await of.forward(1000);
  await chargeDue(of.ctx, running);
  const now = of.clock.now();
  const limits = {
    testMode: true,
    now,
    leaseUntil: new Date(now.getTime() + minuteMs),
    ofOne: 6,
    all: 4,
    waiting: 90,
    keys: heldKeys(of.ctx, now),
  };
  const taken = await claimDueCharges(of.db, of.chain.chainId, limits);
  assert.equal(taken.length, 4);
  assert.equal(taken.filter((one) => one.partner_id === other.partnerId).length, 1);
});
