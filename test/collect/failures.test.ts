import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData, parseAbi } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { revokeCall } from '../../src/chain/recurring/calls.ts';
import { type Hex, toHex } from '../../src/chain/rpc.ts';
import { localSigner, type RelayerSigner } from '../../src/config/relayer.ts';
import { dayMs, hourMs, minuteMs } from '../../src/lib/durations.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { collectDue } from '../../src/plans/collect/run.ts';
import { moveStranded } from '../../src/plans/collect/stranded.ts';
import { toMandate } from '../../src/plans/mandates/read.ts';
import { sendTransaction, signCall, transferCall } from '../../src/sandbox/wallet.ts';
import { idleChain } from '../support/app.ts';
import type { TestWallet } from '../support/chain/chain.ts';
import { testRelayer } from '../support/chain/relayer.ts';
import { setRate } from '../support/fixtures.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';
import { planOf } from '../support/plans.ts';

let of: CollectFixtures;
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
  await sql`delete from mails`;
});

const one = async (plan: { id: string }) => {
  const [collection] = await of.collections(plan);
  assert.ok(collection, 'the plan has a charge');
  return collection;
};
/** The mails about a charge, and the subjects of those about the end of an agreement. */
const splitMails = (mails: readonly { subject: string; body: string }[]) => {
  const isEnd = ({ subject }: { subject: string }) => subject.includes('are stopped') || subject.includes('agree');
  return [mails.filter((mail) => !isEnd(mail)), mails.filter(isEnd).map(({ subject }) => subject)] as const;
};
const stateOf = async (plan: { id: string }) => {
  const { state, reason, attempts } = await one(plan);
  return [state, reason, attempts];
};

/** Charges the plan that is due, and mines the block in which its payer takes the money away before the charge. */
async function chargeAfterTakingAway({ address, privateKey }: TestWallet, usdcMicro: bigint): Promise<void> {
  const running = new AbortController().signal;
  await chargeDue(of.ctx, running);
  await of.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  const call = transferCall({ to: `0x${'77'.repeat(20)}`, usdcMicro });
  const away = await signCall(of.chain, privateKey, of.token, call);
  await of.rpc('evm_setAutomine', [false]);
  try {
    await of.follow();
    assert.equal(await collectDue(of.ctx, of.chain, running), 1);
    const [variant] = await of.db.sql`
      select hash, '0x' || encode(signed, 'hex') as signed from relay_variants order by signed_at desc limit 1`;
    await of.rpc('anvil_dropTransaction', [variant?.hash]);
    for (const signed of [away, variant?.signed]) await of.rpc('eth_sendRawTransaction', [signed]);
    await of.node.mine(1);
  } finally {
    await of.rpc('evm_setAutomine', [true]);
  }
}

test('Too little money: retried on days 1, 3, 5 and 7, each with a mail and the link, then past due, and paid by link again', async () => {
  const plan = await of.plan();
  const payer = await of.payer(1_000_000n);
  await of.agree(plan, payer);
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['waiting', 'balance_low', 1]);
  const { failing_since: since } = await one(plan);
  assert.ok(since);
  const days: number[] = [];
  while (days.length < 4) {
    const dueAt = (await one(plan)).due_at?.getTime() ?? 0;
    days.push(Math.round((dueAt - since.getTime()) / dayMs));
    await of.forward(dueAt - of.clock.now().getTime() - minuteMs);
    await of.collect();
    assert.equal((await one(plan)).attempts, days.length, 'not before its time');
    await of.forward(2 * minuteMs);
    await of.collect();
  }
  assert.deepEqual(days, [1, 3, 5, 7]);
  assert.deepEqual(await stateOf(plan), ['past_due', 'balance_low', 5]);
  const [request] = await of.requests(plan);
  assert.equal(request?.status, 'requested', 'it can still be paid by hand');
  const [mails, told] = splitMails(await of.mails());
  assert.deepEqual(told, ['Test: Automatic charges by Ada’s Bakery are stopped']);
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    [...Array(4).fill('Test: Payment failed: $12.00 to Ada’s Bakery'), 'Test: Past due: $12.00 to Ada’s Bakery'],
  );
  for (const { body } of mails) {
    assert.ok(body.includes(`/pay/${request?.id}`), body);
    assert.ok(body.includes('Your wallet holds too little USDC.'), body);
  }
  assert.ok(mails[4]?.body.includes('No further attempts will be made.'));
  const { state, end_reason } = await of.mandateOf(plan);
  assert.deepEqual([state, end_reason], ['ended', 'past_due']);
  assert.equal((await planOf(of.ctx, plan)).plan.state, 'active');
  const events = await of.db.sql`select from webhook_deliveries where request_id = ${request?.id}`;
  assert.equal(events.length, 0, 'the partner is told nothing of a failure');
});

test('a charge is past due and the merchant chose “End the plan” → the plan ends, and the merchant is told so', async (t) => {
  const plan = await of.plan();
  const mailTo = (email: string | null) =>
    of.db
      .sql`update merchants set email = ${email} from plans p where p.id = ${plan.id} and merchants.id = p.account_id`;
  await mailTo('ada@example.com');
  t.after(() => mailTo(null));
  await of.db.sql`update plans set after_past_due = 'end' where id = ${plan.id}`;
  await of.agree(plan, await of.payer(0n));
  await of.turn();
  for (const step of [1, 2, 2, 2]) {
    await of.forward(step * dayMs + minuteMs);
    await of.collect();
  }
  assert.equal((await one(plan)).state, 'past_due');
  assert.equal((await planOf(of.ctx, plan)).plan.state, 'ended');
  const log = await of.db.sql`select action, actor_kind from audit_log where object_id = ${plan.id} order by number`;
  assert.deepEqual(
    log.slice(-2).map(({ action, actor_kind }) => [action, actor_kind]),
    [
      ['mandate.ended', 'service'],
      ['plan.ended', 'service'],
    ],
  );
  const [told] = await of.mails('ada@example.com');
  assert.match(told?.body ?? '', /^A charge stayed unpaid\.\n\n.*’s plan has ended\. Nothing more is charged\./);
});

test('Money that comes before the next attempt is charged by it, once', async () => {
  const plan = await of.plan();
  const payer = await of.payer(0n);
  await of.agree(plan, payer);
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['waiting', 'balance_low', 1]);
  await of.node.fund(payer.address, 50_000_000n);
  await of.forward(dayMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 1]);
  const [request] = await of.requests(plan);
  assert.equal(request?.proof_status, 'verified');
  assert.equal(await of.balance(payer.address), 50_000_000n - BigInt(request?.usdc_micro ?? 0));
  await of.forward(3 * dayMs);
  await of.collect();
  assert.equal(await of.balance(payer.address), 50_000_000n - BigInt(request?.usdc_micro ?? 0));
});

test('A charge waits for its next attempt → the later ones of its plan are due with it, so that no look for work reads them before', async () => {
  const plan = await of.plan({ period: 'day' });
  const payer = await of.payer(0n);
  await of.agree(plan, payer);
  await of.turn();
  for (let day = 0; day < 2; day++) {
    await of.forward(dayMs + minuteMs);
    await of.turn();
  }
  const [first, ...others] = await of.collections(plan);
  assert.ok(first?.due_at && first.due_at > of.clock.now());
  assert.deepEqual(
    others.map(({ state, due_at }) => [state, due_at]),
    Array(2).fill(['waiting', first.due_at]),
  );
  await of.node.fund(payer.address, 100_000_000n);
  for (let day = 0; day < 4; day++) {
    await of.forward(dayMs);
    await of.collect();
    await of.collect();
  }
  const ended = (await of.collections(plan)).map(({ state, ended_at }) => ({ state, at: ended_at?.getTime() ?? 0 }));
  assert.ok(
    ended.every(({ state }) => state === 'charged'),
    'none is forgotten',
  );
  assert.deepEqual(
    ended.map(({ at }) => at),
    ended.map(({ at }) => at).toSorted((a, b) => a - b),
  );
});

test('Without an allowance a charge fails and the customer is mailed; once the payer sets one by a transaction, it succeeds', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.agree(plan, payer, { permitMicro: null });
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['waiting', 'allowance_low', 1]);
  assert.ok((await of.mails())[0]?.body.includes('spending limit'));
  await of.approve(payer, 30_000_000n);
  await of.forward(dayMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 1]);
});

test('A mandate that was revoked on the chain ends at once: the customer is asked by link', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  const row = await of.agree(plan, payer);
  await of.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000']);
  await sendTransaction(of.chain, payer.privateKey, of.contract, revokeCall(toMandate(row)));
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['asked', 'revoked', 0]);
  const [request] = await of.requests(plan);
  const [[mail, ...others], told] = splitMails(await of.mails());
  assert.equal(others.length, 0);
  assert.equal(told.length, 1, 'that automatic charges are stopped is told apart from it');
  assert.ok(mail?.body.includes('You revoked automatic payments for this plan.'));
  assert.ok(mail?.body.includes(`/pay/${request?.id}`));
  assert.equal((await of.mandateOf(plan)).end_reason, 'revoked_on_chain');
  assert.equal(await of.balance(payer.address), 50_000_000n);
});

const pauser = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 8 });

async function setPaused(paused: boolean): Promise<void> {
  const data = encodeFunctionData({
    abi: parseAbi(['function pause()', 'function unpause()']),
    functionName: paused ? 'pause' : 'unpause',
  });
  await of.rpc('eth_sendTransaction', [{ from: pauser.address, to: of.token, data, gas: toHex(200_000) }]);
  await of.node.mine(1);
}

test('While the token is paused a charge is put off, not counted and not mailed; afterwards it goes through', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  await setPaused(true);
  try {
    await of.turn();
    for (let i = 0; i < 12; i++) {
      await of.forward(hourMs + minuteMs);
      await of.collect();
    }
    const { waits } = await one(plan);
    assert.deepEqual(await stateOf(plan), ['waiting', 'token_paused', 0]);
    assert.ok(waits >= 10, `${waits} looks`);
    assert.equal((await of.mails()).length, 0);
  } finally {
    await setPaused(false);
  }
  await of.forward(hourMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
});

test('While the chain cannot be reached, or the relayer has no coin, a charge is put off and not counted', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  const { ctx, chain } = of;
  const running = new AbortController().signal;
  const down = { ...chain, rpcUrls: ['http://127.0.0.1:9'] };
  const chains = { test: [down], live: [] };
  await chargeDue(ctx, running);
  await of.follow();
  await collectDue({ ...ctx, chains }, down, running);
  assert.deepEqual(await stateOf(plan), ['waiting', 'chain_unreachable', 0]);
  await of.db.sql`update relay_accounts set balance_wei = 0`;
  await of.forward(2 * minuteMs);
  await collectDue(ctx, chain, running);
  assert.deepEqual(await stateOf(plan), ['waiting', 'relayer_unready', 0]);
  assert.equal((await of.mails()).length, 0);
  await of.forward(hourMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
});

test('A charge that would come too soon waits until the interval has passed, as the chain says', async () => {
  const plan = await of.plan({ period: 'day' });
  await of.agree(plan, await of.payer(100_000_000n));
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
  await of.db.sql`update plans set due_at = ${of.clock.now()} where id = ${plan.id}`;
  const before = of.clock.now().getTime();
  await of.turn();
  const [, second] = await of.collections(plan);
  assert.deepEqual([second?.state, second?.reason, second?.attempts], ['waiting', 'too_soon', 0]);
  const waits = ((second?.due_at?.getTime() ?? 0) - before) / hourMs;
  assert.ok(waits > 17.9 && waits < 18.1, `${waits} hours: three quarters of a day`);
  await of.forward(18 * hourMs + minuteMs);
  await of.collect();
  assert.deepEqual(
    (await of.collections(plan)).map(({ state }) => state),
    ['charged', 'charged'],
  );
});

test('A price above the cap is not charged: the customer is asked to pay, and to agree again', async () => {
  const eur = await of.merchantIn('EUR');
  const plan = await of.plan({ currency: 'EUR' }, eur);
  const payer = await of.payer(100_000_000n);
  await of.agree(plan, payer, { cap_micro: '13053479' }); // 12 € at 0.92, and the cent
  await setRate(of.db, 'EUR', '0.91');
  try {
    await of.turn();
  } finally {
    await setRate(of.db, 'EUR', '0.92');
  }
  assert.equal((await of.collections(plan)).length, 0, 'it was clear when the request was made');
  const [[mail]] = splitMails(await of.mails());
  assert.ok(mail?.body.includes('higher than the maximum you agreed to'), mail?.body);
  assert.equal((await of.mandateOf(plan)).end_reason, 'above_cap');
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('A merchant who changes the wallet between agreeing and charging is not paid by the old mandate', async () => {
  const shop = await of.merchantIn('USD');
  const plan = await of.plan({}, shop);
  const payer = await of.payer(100_000_000n);
  await of.agree(plan, payer, { payee: of.merchant.wallet as Hex });
  await of.turn();
  assert.equal((await of.mandateOf(plan)).end_reason, 'wallet_changed');
  assert.ok((await of.mails())[0]?.body.includes('now uses another wallet'));
  assert.equal(await of.balance(payer.address), 100_000_000n);
});

test('A customer who takes the money away between simulation and inclusion costs one fee, and the attempt is counted', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.agree(plan, payer);
  await chargeAfterTakingAway(payer, 50_000_000n);
  assert.equal((await one(plan)).state, 'sent');
  await of.collect();
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', 'balance_low', 1]);
  // Back again: a charge that would succeed now still waits for its day.
  await of.node.fund(payer.address, 50_000_000n);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', 'balance_low', 1]);
  const relayed = await of.db
    .sql`select state from relay_transactions where subject_id = ${(await one(plan)).request_id}`;
  assert.deepEqual(
    relayed.map(({ state }) => state),
    ['reverted'],
  );
  await of.forward(dayMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 1]);
  assert.equal((await of.requests(plan))[0]?.proof_status, 'verified');
});

test('A charge was reverted, and the money is back before it is judged → it costs no second fee, and the attempt is counted', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.agree(plan, payer);
  await chargeAfterTakingAway(payer, 50_000_000n);
  await of.node.fund(payer.address, 50_000_000n);
  await of.node.mine(2);
  await of.caughtUp();
  await of.follow();
  // Charges that are due together are simulated together, and one alone is not.
  const other = await of.plan();
  await of.agree(other, await of.payer(50_000_000n));
  await of.turn();
  await of.collect();
  assert.deepEqual(await Promise.all([plan, other].map(stateOf)), [
    ['waiting', 'reverted', 1],
    ['charged', null, 0],
  ]);
  const { request_id } = await one(plan);
  const relayed = await of.db.sql`select state from relay_transactions where subject_id = ${request_id}`;
  assert.deepEqual(
    relayed.map(({ state }) => state),
    ['reverted'],
  );
});

/** Code that accepts every signature, after this many empty rounds. */
function slowWallet(rounds: number): Hex {
  const count = rounds.toString(16).padStart(6, '0');
  return `0x62${count}5b6001900380600457631626ba7e60e01b60005260206000f3`;
}

test('A contract wallet that burns gas is not charged: the relayer pays for no more than a charge needs', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.approve(payer, 50_000_000n);
  await of.agree(plan, payer, { permitMicro: null });
  await of.db.sql`update mandates set signature = ${Buffer.alloc(96, 1)} where plan_id = ${plan.id}`;
  await of.rpc('anvil_setCode', [payer.address, slowWallet(80_000)]);
  await of.turn();
  assert.deepEqual(await stateOf(plan), ['waiting', 'wallet_refused', 1]);
  await of.rpc('anvil_setCode', [payer.address, slowWallet(10)]);
  await of.forward(dayMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 1]);
});

test('A contract wallet that burns gas is due together with another wallet → only the other is charged', async () => {
  const plans = [await of.plan(), await of.plan()] as const;
  const [burning] = plans;
  for (const plan of plans) {
    const payer = await of.payer(50_000_000n);
    await of.approve(payer, 50_000_000n);
    await of.agree(plan, payer, { permitMicro: null });
    if (plan === burning) await of.rpc('anvil_setCode', [payer.address, slowWallet(40_000)]);
  }
  await of.db.sql`update mandates set signature = ${Buffer.alloc(96, 1)} where plan_id = ${burning.id}`;
  await of.turn();
  assert.deepEqual(await Promise.all(plans.map(stateOf)), [
    ['waiting', 'wallet_refused', 1],
    ['charged', null, 0],
  ]);
});

test('Two plans of a wallet that can pay one of them: the second waits for the first, and costs the relayer nothing', async () => {
  const [first, second] = [await of.plan(), await of.plan()];
  const payer = await of.payer(15_000_000n);
  await of.agree(first, payer);
  await of.agree(second, payer);
  await of.rpc('evm_setAutomine', [false]);
  const running = new AbortController().signal;
  try {
    await chargeDue(of.ctx, running);
    await of.follow();
    assert.equal(await collectDue(of.ctx, of.chain, running), 1, 'one of the two');
    await of.node.mine(1);
  } finally {
    await of.rpc('evm_setAutomine', [true]);
  }
  await of.collect();
  await of.forward(minuteMs + 1000);
  await of.collect();
  const states = [await stateOf(first), await stateOf(second)].sort();
  assert.deepEqual(states, [
    ['charged', null, 0],
    ['waiting', 'balance_low', 1],
  ]);
  const ids = [...(await of.requests(first)), ...(await of.requests(second))].map(({ id }) => id);
  const relayed = await of.db.sql`select state from relay_transactions where subject_id = any(${ids}::uuid[])`;
  assert.deepEqual(
    relayed.map(({ state }) => state),
    ['final'],
  );
});

test('A newer address of the relayer has no coin → the mandates of an earlier one are still charged', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  const newer = localSigner(`0x${'53'.repeat(32)}`);
  const ctx = { ...of.ctx, config: { ...of.ctx.config, relayer: { signers: [newer, testRelayer] } } };
  await chargeDue(of.ctx, new AbortController().signal);
  assert.equal(await collectDue(ctx, of.chain, new AbortController().signal), 1);
  assert.deepEqual(await stateOf(plan), ['sent', null, 0]);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
});

const otherRelayer = localSigner(`0x${'53'.repeat(32)}`);
const nodeWith = (...signers: RelayerSigner[]) => ({
  ...of.ctx,
  config: { ...of.ctx.config, relayer: { signers } },
});

test('A node lacks the relayer’s key that a mandate names → it leaves the charge to a node that has it, mandate and all', async () => {
  const running = new AbortController().signal;
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  await chargeDue(nodeWith(otherRelayer), running);
  for (const node of [nodeWith(otherRelayer), nodeWith()]) {
    assert.equal(await collectDue(node, of.chain, running), 0);
    assert.deepEqual(await stateOf(plan), ['waiting', null, 0]);
    assert.equal((await one(plan)).waits, 0);
  }
  assert.equal((await of.mandateOf(plan)).state, 'active');
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
  assert.equal((await of.mails()).length, 0);
});

test('A charge waits for a chain that was removed, and its customer agrees on another → it is charged there', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  await chargeDue(of.ctx, new AbortController().signal);
  // As if the mandate and the charge were on a chain that was removed since.
  await of.db.sql`update collections set chain_id = 31999 where state = 'waiting'`;
  await of.db.sql`update mandates set chain_id = 31999 where plan_id = ${plan.id}`;
  assert.equal(await moveStranded(of.ctx), 0, 'the chain may come back');
  await of.db.sql`update mandates set state = 'replaced', ended_at = now() where plan_id = ${plan.id}`;
  await of.agree(plan, await of.payer(50_000_000n));
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', null, 0]);
  assert.equal(await moveStranded(of.ctx), 1);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
});

test('A chain was moved to the other mode too early → a charge waits until it is back, and nobody is asked to pay', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  await chargeDue(of.ctx, new AbortController().signal);
  const mailed = (await of.mails()).length;
  const moved = { ...of.ctx, chains: { test: [idleChain(31999)], live: [of.chain] } };
  await collectDue(moved, of.chain, new AbortController().signal);
  assert.deepEqual(await stateOf(plan), ['waiting', null, 0]);
  assert.equal((await of.mails()).length, mailed);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['charged', null, 0]);
});

test('A charge waits for a chain that was removed, and its mandate has ended → the customer is asked by link', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  await chargeDue(of.ctx, new AbortController().signal);
  await of.db.sql`update collections set chain_id = 31999 where state = 'waiting'`;
  await of.db.sql`
    update mandates set chain_id = 31999, state = 'ended', end_reason = 'expired', ended_at = now()
    where plan_id = ${plan.id}`;
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['waiting', null, 0]);
  assert.equal(await moveStranded(of.ctx), 1);
  await of.collect();
  assert.deepEqual(await stateOf(plan), ['asked', 'no_mandate', 0]);
  const [request] = await of.requests(plan);
  assert.ok((await of.mails()).some(({ body }) => body.includes(`/pay/${request?.id}`)));
});

test('No node has had the relayer’s key that a mandate names for a day → the customer is asked by link', async () => {
  const running = new AbortController().signal;
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n));
  await chargeDue(of.ctx, running);
  await of.forward(dayMs - minuteMs);
  await collectDue(nodeWith(otherRelayer), of.chain, running);
  assert.deepEqual(await stateOf(plan), ['waiting', null, 0]);
  await of.forward(minuteMs);
  await collectDue(nodeWith(otherRelayer), of.chain, running);
  assert.deepEqual(await stateOf(plan), ['asked', 'chain_gone', 0]);
  const [request] = await of.requests(plan);
  const [mail, ...others] = await of.mails();
  assert.equal(others.length, 0);
  assert.ok(mail?.body.includes(`/pay/${request?.id}`));
});
