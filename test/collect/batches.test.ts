import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { toRemoved } from '../../src/chain/reader/removed.ts';
import { heldKeys } from '../../src/chain/relay/relay.ts';
import { type ChainConfig, limitsOf } from '../../src/config/chains.ts';
import { connect, type Tx } from '../../src/db/connection.ts';
import { runJobs } from '../../src/jobs.ts';
import { matchPending } from '../../src/payments/match.ts';
import type { TransferRow } from '../../src/payments/transfers.ts';
import { undoRemoved } from '../../src/payments/undo-removed.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { claimDueCharges } from '../../src/plans/collect/queue-store.ts';
import { collectDue } from '../../src/plans/collect/run.ts';
import { endMandate } from '../../src/plans/mandates/end.ts';
import { revokeStopped } from '../../src/plans/mandates/revoke.ts';
import type { PlanRow } from '../../src/plans/read.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { passTime } from '../support/chain/relay-fixtures.ts';
import { testRelayer } from '../support/chain/relayer.ts';
import { makeMerchant, makePartner } from '../support/fixtures.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
let of: CollectFixtures;
let provider: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  of = await collectFixtures({
    endpoint: async (target) => {
      provider = await fakeProvider(target);
      return provider.url;
    },
  });
});
afterEach(() => {
  provider.fake.lie = async () => null;
});
after(async () => {
  await of?.stop();
  await provider?.stop();
});
/** Removes what earlier tests have left, so that it does not affect later ones. */
beforeEach(async () => {
  const { sql } = of.db;
  await sql`update collections set state = 'stopped', due_at = null, ended_at = now() where state in ('waiting', 'sent')`;
  await sql`update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null, failure = null, failed_at = null
    where state <> 'ended'`;
  await sql`delete from relay_spending`;
});

type Party = { scope: CollectFixtures['scope']; merchant: CollectFixtures['merchant'] };
const newParty = async (): Promise<Party> => {
  const { test: scope } = await makePartner(of.db, { currency: 'USD' });
  return { scope, merchant: await makeMerchant(of.db, scope, { currency: 'USD' }) };
};
const besides = async ({ scope }: Party): Promise<Party> => ({
  scope,
  merchant: await makeMerchant(of.db, scope, { currency: 'USD' }),
});
/** Makes plans of one partner, whose customers have agreed and hold an amount, each with a due charge. */
async function duePlans(count: number, micro = (_: number) => 100_000_000n, party?: Party): Promise<PlanRow[]> {
  const whose = party ?? (await newParty());
  const plans: PlanRow[] = [];
  for (let i = 0; i < count; i++) {
    const plan = await of.plan({ customerEmail: null }, whose);
    await of.agree(plan, await of.payer(micro(i)));
    plans.push(plan);
  }
  await chargeDue(of.ctx, running);
  return plans;
}
const statesOf = async (plans: readonly PlanRow[]) =>
  (await Promise.all(plans.map((plan) => of.collections(plan)))).map(([row]) => [row?.state, row?.reason]);
const countOf = (method: string) => provider.fake.calls.get(method) ?? 0;
test('Many charges of a partner at once → each is run once, all are sent, and each wallet is charged once', async () => {
  const plans = await duePlans(12);
  const [run, sent] = [countOf('eth_estimateGas'), countOf('eth_sendRawTransaction')];
  assert.equal(await of.collect(), 12);
  assert.equal(countOf('eth_estimateGas') - run, 12);
  assert.equal(countOf('eth_sendRawTransaction') - sent, 12);
  assert.deepEqual(new Set((await statesOf(plans)).map(String)), new Set(['charged,']));
  const requests = (await Promise.all(plans.map((plan) => of.requests(plan)))).flat();
  assert.ok(requests.every((request) => request.proof_status === 'verified'));
  assert.equal(new Set(requests.map(({ tx_hash }) => tx_hash)).size, 12);
});

test('One of many has too little money → it alone fails, and the others are charged', async () => {
  const plans = await duePlans(5, (i) => (i === 2 ? 1_000_000n : 100_000_000n));
  assert.equal(await of.collect(), 4);
  const states = await statesOf(plans);
  assert.deepEqual(states[2], ['waiting', 'balance_low']);
  assert.ok(states.every(([state], i) => i === 2 || state === 'charged'));
});

test('One of many cannot be stored → the others are sent, and it stays as it was', async () => {
  const plans = await duePlans(4);
  const [stuck] = await of.collections(plans[1] as PlanRow);
  await of.owner`
    create function stand_in_the_way() returns trigger language plpgsql as
      'begin raise exception ''this one cannot be stored''; end'`;
  await of.owner.unsafe(`
    create trigger stand_in_the_way before update on collections for each row
      when (old.request_id = '${stuck?.request_id}' and new.state = 'sent') execute function stand_in_the_way()`);
  try {
    assert.equal(await of.collect(), 3);
  } finally {
    await of.owner`drop function stand_in_the_way() cascade`;
  }
  const states = await statesOf(plans);
  assert.deepEqual(states[1], ['waiting', null]);
  assert.ok(states.every(([state], i) => i === 1 || state === 'charged'));
});

test('The day’s budget suffices for some of many → these are sent, the others postponed, and it is not exceeded', async () => {
  const budgetWei = (await feeOfOne()) * 4n; // of which charges may use nine tenths
  const chain: ChainConfig = { ...of.chain, relayer: { ...limitsOf(of.chain), budgetWei } };
  const party = await newParty();
  const plans = await duePlans(6, undefined, party);
  const sent = await collectDue({ ...of.ctx, chains: { test: [chain], live: [] } }, chain, running);
  assert.ok(sent > 0 && sent < 6, `${sent} were sent`);
  const states = await statesOf(plans);
  assert.equal(states.filter(([state]) => state === 'sent').length, sent);
  assert.equal(states.filter(([, reason]) => reason === 'relayer_unready').length, 6 - sent);
  const [spent] = await of.db.sql<{ wei: string }[]>`
    select wei from relay_spending where partner_id = ${party.scope.partnerId}`;
  assert.ok(BigInt(spent?.wei ?? 0) <= (budgetWei * 9n) / 10n);
});

test('One merchant’s charges leave half of the budget to others of the partner who have customers; one alone has it all', async () => {
  const budgetWei = (await feeOfOne()) * 9n;
  const chain: ChainConfig = { ...of.chain, relayer: { ...limitsOf(of.chain), budgetWei } };
  const [many, alone] = [await newParty(), await newParty()];
  const other = { ...many, merchant: await makeMerchant(of.db, many.scope, { currency: 'USD' }) };
  await duePlans(10, undefined, many);
  const others = await duePlans(2, undefined, other);
  await duePlans(10, undefined, alone);
  await collectDue({ ...of.ctx, chains: { test: [chain], live: [] } }, chain, running);
  assert.deepEqual(new Set((await statesOf(others)).map(String)), new Set(['sent,']));
  const half = (budgetWei * 9n) / 20n;
  const ofMany = await reservedBy(many);
  assert.ok(ofMany > 0n && ofMany <= half, `${ofMany} of ${half}`);
  assert.ok((await reservedBy(alone)) > half);
});

test('Several merchants’ charges one after the other → each leaves others as much as it used, and one who comes last is charged', async () => {
  const budgetWei = ((await feeOfOne()) * 160n) / 9n; // sixteen charges
  const chain: ChainConfig = { ...of.chain, relayer: { ...limitsOf(of.chain), budgetWei } };
  const first = await newParty();
  const all = [first, await besides(first), await besides(first)];
  const last = await besides(first);
  const others = await duePlans(1, undefined, last);
  await of.db.sql`update collections set due_at = due_at + interval '1 hour' where account_id = ${last.merchant.id}`;
  for (const party of all) {
    await duePlans(9, undefined, party);
    await collectDue({ ...of.ctx, chains: { test: [chain], live: [] } }, chain, running);
  }
  const [most = 0n, more = 0n, least = 0n] = await Promise.all(all.map(reservedBy));
  assert.ok(most > more && more > least && least > 0n, `${most}, ${more} and ${least} of ${budgetWei}`);
  await of.db.sql`update collections set due_at = ${of.clock.now()} where account_id = ${last.merchant.id}`;
  await collectDue({ ...of.ctx, chains: { test: [chain], live: [] } }, chain, running);
  assert.deepEqual(await statesOf(others), [['sent', null]]);
});

test('One merchant’s customers agree and stop again and again → telling the chain leaves half of the budget to others’ charges', async () => {
  const budgetWei = ((await feeOfOne()) * 80n) / 9n; // eight charges
  const chain: ChainConfig = { ...of.chain, relayer: { ...limitsOf(of.chain), budgetWei } };
  const ctx = { ...of.ctx, chains: { test: [chain], live: [] } };
  const party = await newParty();
  const other = await besides(party);
  const others = await duePlans(2, undefined, other);
  const plan = await of.plan({ customerEmail: null }, party);
  const payer = await of.payer(100_000_000n);
  for (let turn = 0; turn < 24; turn++) {
    const { id } = await of.agree(plan, payer, { permitMicro: null });
    await endMandate(ctx, theService, party.scope, id, { reason: 'stopped_by_customer' });
  }
  await of.db.sql`update mandates set revoke_due_at = ${of.clock.now()} where plan_id = ${plan.id}`;
  for (let pass = 0; pass < 3; pass++) await revokeStopped(ctx, running);
  const [{ wei } = { wei: '0' }] = await of.db.sql<{ wei: string }[]>`
    select wei::text from relay_spending where partner_id = ${party.scope.partnerId}`;
  assert.ok(BigInt(wei) > budgetWei / 4n && BigInt(wei) <= budgetWei / 2n, `${wei} of ${budgetWei}`);
  await collectDue(ctx, chain, running);
  assert.deepEqual(new Set((await statesOf(others)).map(String)), new Set(['sent,']));
});

test('A node is told that a revocation fails while another node sends it → the one that was sent stays', async () => {
  const party = await newParty();
  const plan = await of.plan({ customerEmail: null }, party);
  const { id } = await of.agree(plan, await of.payer(100_000_000n), { permitMicro: null });
  await endMandate(of.ctx, theService, party.scope, id, { reason: 'stopped_by_customer' });
  await of.db.sql`update mandates set revoke_due_at = ${of.clock.now()} where id = ${id}`;
  const revocation = async () => {
    const [row] = await of.db.sql<{ revoke_relay_id: string | null }[]>`
      select revoke_relay_id from mandates where partner_id = ${party.scope.partnerId} and id = ${id}`;
    return row?.revoke_relay_id;
  };
  const [asked, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isFirst = true;
  provider.fake.lie = async ({ method }) => {
    if (method !== 'eth_estimateGas' || !isFirst) return null;
    isFirst = false;
    asked.resolve();
    await sent.promise;
    return { error: { code: 3, message: 'execution reverted' } };
  };
  const late = revokeStopped(of.ctx, running);
  await asked.promise;
  await revokeStopped(of.ctx, running);
  const call = await revocation();
  assert.ok(call);
  sent.resolve();
  await late;
  assert.equal(await revocation(), call);
});

test('A single charge that costs more than a merchant’s half is still sent', async () => {
  const budgetWei = ((await feeOfOne()) * 14n) / 9n;
  const chain: ChainConfig = { ...of.chain, relayer: { ...limitsOf(of.chain), budgetWei } };
  const party = await newParty();
  const other = { ...party, merchant: await makeMerchant(of.db, party.scope, { currency: 'USD' }) };
  await duePlans(1, undefined, other);
  await of.db.sql`
    update collections set due_at = due_at + interval '1 hour' where account_id = ${other.merchant.id} and state = 'waiting'`;
  const plans = await duePlans(1, undefined, party);
  assert.equal(await collectDue({ ...of.ctx, chains: { test: [chain], live: [] } }, chain, running), 1);
  assert.deepEqual(await statesOf(plans), [['sent', null]]);
});

test('Two plans of one wallet → one is charged at a time', async () => {
  const party = await newParty();
  const payer = await of.payer(100_000_000n);
  const plans = [await of.plan({ customerEmail: null }, party), await of.plan({ customerEmail: null }, party)];
  for (const plan of plans) await of.agree(plan, payer);
  await chargeDue(of.ctx, running);
  assert.equal(await collectDue(of.ctx, of.chain, running), 1);
  const states = (await statesOf(plans)).map(([state]) => state);
  assert.deepEqual(states.sort(), ['sent', 'waiting']);
  await of.collect();
  await of.forward(61_000);
  await of.collect();
  assert.deepEqual(
    (await statesOf(plans)).map(([state]) => state),
    ['charged', 'charged'],
  );
});

test('No more of a partner’s charges are taken than there is room for among its calls that wait to be mined', async () => {
  const [party, other] = [await newParty(), await newParty()];
  await duePlans(5, undefined, party);
  await duePlans(1, undefined, other);
  await waitingCalls(party, 7);
  const now = of.clock.now();
  const limits = {
    testMode: true,
    now,
    leaseUntil: new Date(now.getTime() + 60_000),
    ofOne: 5,
    all: 20,
    waiting: 10,
    keys: heldKeys(of.ctx, now),
  };
  const taken = await claimDueCharges(of.db, of.chain.chainId, limits);
  assert.equal(taken.filter((one) => one.partner_id === party.scope.partnerId).length, 3);
  assert.equal(taken.filter((one) => one.partner_id === other.scope.partnerId).length, 1);
  await of.db.sql`delete from relay_transactions where nonce >= 1000000`;
});

test('The room is gone once they are run → due again within seconds, without a reason, and another partner is charged', async () => {
  const [party, other] = [await newParty(), await newParty()];
  const plans = await duePlans(3, undefined, party);
  const others = await duePlans(1, undefined, other);
  let isFull = false;
  provider.fake.lie = async ({ method }) => {
    if (method === 'eth_estimateGas' && !isFull) {
      isFull = true;
      await waitingCalls(party, 89);
    }
    return null;
  };
  assert.equal(await collectDue(of.ctx, of.chain, running), 2);
  const states = await statesOf(plans);
  assert.deepEqual(states.map(([state]) => state).sort(), ['sent', 'waiting', 'waiting']);
  assert.ok(states.every(([, reason]) => reason === null));
  assert.deepEqual(await statesOf(others), [['sent', null]]);
  const [due] = await of.db.sql<{ at: Date }[]>`select max(due_at) as at from collections where state = 'waiting'`;
  assert.ok((due?.at.getTime() ?? 0) <= of.clock.now().getTime() + 2_000);
  await of.db.sql`delete from relay_transactions where nonce >= 1000000`;
  await of.forward(3_000);
  await of.collect();
  assert.ok((await statesOf(plans)).every(([state]) => state === 'charged'));
});

test('A part is paid by link while the charge is simulated → the whole is not charged, only the rest', async () => {
  const [plan] = (await duePlans(1)) as [PlanRow];
  const [request] = await of.requests(plan);
  assert.ok(request);
  let isPaid = false;
  provider.fake.lie = async ({ method }) => {
    if (method !== 'eth_estimateGas' || isPaid) return null;
    isPaid = true;
    const { wallet_address: to, reference } = request;
    await of.node.pay({ from: of.node.wallet(), to, usdcMicro: 5_000_000n, reference });
    await of.caughtUp();
    await matchPending(of.ctx);
    return null;
  };
  assert.equal(await collectDue(of.ctx, of.chain, running), 0);
  assert.ok(isPaid);
  assert.deepEqual(await statesOf([plan]), [['waiting', null]]);
  await of.forward(61_000);
  await of.collect();
  assert.deepEqual(await statesOf([plan]), [['charged', null]]);
  const [sum] = await of.db.sql`
    select sum(value)::text as value from transfers where request_id = ${request.id} and counts`;
  assert.equal(sum?.value, request.usdc_micro);
});

test('A part that every endpoint denies is removed while the charge of the rest is simulated → the rest alone is not charged', async () => {
  const [plan] = (await duePlans(1)) as [PlanRow];
  const [request] = await of.requests(plan);
  assert.ok(request);
  const { wallet_address: to, reference } = request;
  await of.node.pay({ from: of.node.wallet(), to, usdcMicro: 5_000_000n, reference });
  await of.caughtUp();
  await matchPending(of.ctx);
  let removed = 0;
  provider.fake.lie = async ({ method }) => {
    if (method !== 'eth_estimateGas' || removed > 0) return null;
    // As `removeDenied` does. It also lets the payment be read again, which this chain would report at once.
    await of.db.transaction(async (tx) => {
      const rows = await tx<
        TransferRow[]
      >`delete from transfers where request_id = ${request.id} and counts returning *`;
      await undoRemoved(
        tx,
        rows.map((row) => toRemoved(of.chain.chainId, row)),
      );
      removed = rows.length;
    });
    return null;
  };
  assert.equal(await collectDue(of.ctx, of.chain, running), 0);
  assert.equal(removed, 1);
  assert.equal((await sentFor(request)).length, 0);
  assert.deepEqual(await statesOf([plan]), [['waiting', null]]);
});

test('The whole is paid by link while the charge is simulated, and read but not matched → it is not charged as well', async () => {
  const [plan] = (await duePlans(1)) as [PlanRow];
  const [request] = await of.requests(plan);
  assert.ok(request);
  let isPaid = false;
  provider.fake.lie = async ({ method }) => {
    if (method !== 'eth_estimateGas' || isPaid) return null;
    isPaid = true;
    const { wallet_address: to, reference, usdc_micro: due } = request;
    await of.node.pay({ from: of.node.wallet(), to, usdcMicro: BigInt(due), reference });
    await of.caughtUp();
    return null;
  };
  assert.equal(await collectDue(of.ctx, of.chain, running), 0);
  assert.ok(isPaid);
  assert.equal((await of.db.sql`select from relay_transactions where subject_id = ${request.id}`).length, 0);
  await matchPending(of.ctx);
  await of.forward(61_000);
  await of.collect();
  assert.deepEqual(await statesOf([plan]), [['waiting', 'payment_seen']]);
});

/** Takes a due charge while another transaction makes a change, which is committed once the charge waits or is stored. */
async function collectDuring(change: (tx: Tx) => Promise<unknown>): Promise<number> {
  const { collecting } = await of.db.transaction(async (tx) => {
    await change(tx);
    let isOver = false;
    const collecting = collectDue(of.ctx, of.chain, running).finally(() => {
      isOver = true;
    });
    const isWaiting = async () => {
      const waiting = await of.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    };
    await until(async () => isOver || (await isWaiting()), 'the charge waits, or was stored');
    return { collecting };
  });
  return collecting;
}

const sentFor = ({ id }: { id: string }) => of.db.sql`select from relay_transactions where subject_id = ${id}`;

test('The customer stops while the charge is about to be stored → it waits for that, and nothing is charged afterwards', async () => {
  const [plan] = (await duePlans(1)) as [PlanRow];
  const [request] = await of.requests(plan);
  assert.ok(request);
  const sent = await collectDuring(
    (tx) => tx`
      update mandates set state = 'stopped', ended_at = now(), end_reason = 'stopped_by_customer'
      where plan_id = ${plan.id}`,
  );
  assert.equal(sent, 0);
  assert.equal((await sentFor(request)).length, 0);
});

test('The request is cancelled while the charge is about to be stored → it waits for that, and nothing is charged afterwards', async () => {
  const [plan] = (await duePlans(1)) as [PlanRow];
  const [request] = await of.requests(plan);
  assert.ok(request);
  const sent = await collectDuring(
    (tx) => tx`update requests set status = 'voided', voided_at = now() where id = ${request.id}`,
  );
  assert.equal(sent, 0);
  assert.equal((await sentFor(request)).length, 0);
});

test('Two nodes take the charges of two partners at once → each is sent once, by one of them', async () => {
  const [party, other] = [await newParty(), await newParty()];
  const plans = [...(await duePlans(8, undefined, party)), ...(await duePlans(4, undefined, other))];
  const node = { ...of.ctx, db: connect(of.access) };
  try {
    const sent = await Promise.all([of.ctx, node, of.ctx, node].map((ctx) => collectDue(ctx, of.chain, running)));
    assert.equal(
      sent.reduce((all, one) => all + one, 0),
      12,
    );
    const [row] = await of.db.sql`
      select count(*)::int as calls, count(distinct t.subject_id)::int as charges from relay_transactions t
      where t.partner_id in (${party.scope.partnerId}, ${other.scope.partnerId})`;
    assert.deepEqual(row, { calls: 12, charges: 12 });
    await of.collect();
    assert.ok((await statesOf(plans)).every(([state]) => state === 'charged'));
  } finally {
    await node.db.close();
  }
});

test('A charge that another transaction holds → it is left alone, and the others are taken without a wait', async () => {
  const party = await newParty();
  const plans = await duePlans(3, undefined, party);
  const [held] = await of.collections(plans[1] as PlanRow);
  const now = of.clock.now();
  const limits = {
    testMode: true,
    now,
    leaseUntil: new Date(now.getTime() + 60_000),
    ofOne: 5,
    all: 20,
    waiting: 10,
    keys: heldKeys(of.ctx, now),
  };
  const taken = await of.owner.begin(async (tx) => {
    await tx`select from collections where request_id = ${held?.request_id ?? ''} for update`;
    return claimDueCharges(of.db, of.chain.chainId, limits);
  });
  assert.equal(taken.length, 2);
  assert.ok(taken.every((one) => one.request_id !== held?.request_id));
  const [last] = await claimDueCharges(of.db, of.chain.chainId, limits);
  assert.equal(last?.request_id, held?.request_id);
});

test('A partner’s charges fill its room → the next are sent once those are mined, without a poll', async () => {
  const party = await newParty();
  await waitingCalls(party, 88);
  const stop = new AbortController();
  const jobs = runJobs(of.ctx, stop.signal, { pollMs: 3_600_000 });
  try {
    const plans = await duePlans(5, undefined, party);
    const waiting = async () => (await statesOf(plans)).filter(([state]) => state === 'waiting').length;
    await until(async () => (await waiting()) === 0, 'all to be sent');
    await of.db.sql`delete from relay_transactions where nonce >= 1000000`;
  } finally {
    stop.abort();
    await jobs;
  }
});

test('Every endpoint refuses to send what passes when it is run → it costs one fee, and the attempt is counted', async () => {
  const [plan] = (await duePlans(1)) as [PlanRow];
  // A transfer of nothing, which takes its place, is shorter.
  provider.fake.lie = async ({ method, params }) =>
    method === 'eth_sendRawTransaction' && String(params[0]).length > 500
      ? { error: { code: -32000, message: 'not allowed here' } }
      : null;
  await of.collect();
  for (let passes = 0; passes < 3; passes++) {
    await passTime(of.db, 61);
    await of.collect();
  }
  const [charge] = await of.collections(plan);
  assert.deepEqual([charge?.state, charge?.reason, charge?.attempts], ['waiting', 'reverted', 1]);
  const calls = await of.db.sql`select state from relay_transactions where subject_id = ${charge?.request_id ?? ''}`;
  assert.deepEqual(
    calls.map(({ state }) => state),
    ['lost'],
  );
});

test('A charge waits → it is sent at once, without a poll', async () => {
  const stop = new AbortController();
  const jobs = runJobs(of.ctx, stop.signal, { pollMs: 3_600_000 });
  try {
    // The first may be found when the loops begin; the second only by news.
    for (let i = 0; i < 2; i++) {
      const plans = await duePlans(1);
      await until(async () => (await statesOf(plans)).every(([state]) => state !== 'waiting'), 'the charge to be sent');
    }
  } finally {
    stop.abort();
    await jobs;
  }
});

/** The most that the relayer reserves for one charge, in wei. */
async function feeOfOne(): Promise<bigint> {
  const party = await newParty();
  await duePlans(1, undefined, party);
  await of.collect();
  const [row] = await of.db.sql<{ wei: string }[]>`
    select max(gas * max_fee_wei)::text as wei from relay_transactions t join relay_variants v on v.relay_id = t.id
    where t.partner_id = ${party.scope.partnerId}`;
  return BigInt(row?.wei ?? 0);
}

/** The sum reserved for the charges of a merchant, in wei. */
async function reservedBy({ merchant }: Party): Promise<bigint> {
  const [row] = await of.db.sql<{ wei: string }[]>`
    select coalesce(sum(t.fee_wei), 0)::text as wei from relay_transactions t join collections c on c.relay_id = t.id
    where c.account_id = ${merchant.id}`;
  return BigInt(row?.wei ?? 0);
}

/** Calls of a partner that nobody sends. */
async function waitingCalls({ scope }: Party, count: number): Promise<void> {
  await of.db.sql`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
      purpose, subject_id, day, fee_wei)
    select ${scope.partnerId}, true, gen_random_uuid(), ${of.chain.chainId}, ${testRelayer.address}, 1000000 + n,
      ${testRelayer.address}, '', 21000, 'charge', gen_random_uuid(), current_date, 1
    from generate_series(1, ${count}::int) n`;
}
