import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { canAfford } from '../../src/chain/relay/afford.ts';
import { budgetLeft } from '../../src/chain/relay/budget-store.ts';
import { canRelay, dispatch, enqueueCall, readRelay } from '../../src/chain/relay/relay.ts';
import { limitsOf } from '../../src/config/chains.ts';
import type { Scope } from '../../src/db/connection.ts';
import { type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { makePartner } from '../support/fixtures.ts';

const gas = 50_000n;
let f: RelayFixtures;
let limits: ReturnType<typeof limitsOf>;
before(async () => {
  f = await relayFixtures();
  limits = limitsOf(f.chain);
});
after(() => f.stop());

const newScope = async (): Promise<Scope> => (await makePartner(f.db)).test;
/** Enqueues a call of this much gas; returns the reason if it is refused. */
const take = (scope: Scope, chain = f.chain, used = gas): Promise<string> =>
  f.ctx.db
    .transaction((tx) => enqueueCall(f.ctx, tx, f.call({ scope, chain, purpose: 'revoke' }), used))
    .catch((error) => error.reason);
const spent = async (scope: Scope): Promise<bigint> => {
  const [row] = await f.db.sql`select wei from relay_spending where partner_id = ${scope.partnerId}`;
  return BigInt(row?.wei ?? 0);
};
const reservedBy = async (id: string) => (await readRelay(f.db.sql, id))?.feeWei ?? 0n;

/** Everything that was enqueued is sent and found mined. */
async function sendAll(): Promise<void> {
  for (const row of await f.db.sql`select id from relay_transactions where state = 'allotted' order by nonce`) {
    await dispatch(f.ctx, row.id);
  }
  for (let passes = 0; passes < 4; passes++) {
    await f.read();
    await f.follow();
  }
}

test('30 calls at once with a budget for seven → exactly seven are accepted, and other partners are unaffected', async () => {
  const [scope, other] = [await newScope(), await newScope()];
  const probe = await reservedBy(await take(other));
  const chain = { ...f.chain, relayer: { ...limits, budgetWei: 7n * probe + 1n } };
  const taken = await Promise.all(Array.from({ length: 30 }, () => take(scope, chain)));
  assert.equal(taken.filter((one) => one === 'budget').length, 23);
  assert.equal(await spent(scope), 7n * probe);
  assert.equal(await budgetLeft(f.db.sql, { scope, chainId: chain.chainId, budgetWei: 7n * probe + 1n }), 1n);
  assert.equal(await take({ ...scope, testMode: false } as Scope, chain).then((one) => one === 'budget'), false);
  assert.equal((await take(other, chain)).length, 36);
  await sendAll();
  assert.ok((await spent(scope)) < 4n * probe, 'what they cost is less than what was reserved');
  assert.equal((await take(scope, chain)).length, 36);
});

test('authorizations have used half of a partner’s budget and queue → other calls are still accepted', async () => {
  const [scope, waiting] = [await newScope(), await newScope()];
  const probe = await reservedBy(await take(await newScope()));
  const chain = { ...f.chain, relayer: { ...limits, budgetWei: 8n * probe } };
  const hand = (of: Scope, on = f.chain): Promise<string> =>
    f.ctx.db
      .transaction((tx) => enqueueCall(f.ctx, tx, f.call({ scope: of, chain: on, purpose: 'authorization' }), gas))
      .catch((error) => error.reason);
  const handed = [];
  for (let calls = 0; calls < 6; calls++) handed.push(await hand(scope, chain));
  assert.deepEqual(
    handed.slice(3).map((one) => one === 'budget'),
    [false, true, true],
  );
  assert.equal(await canAfford(f.ctx, { scope, accountId: randomUUID() }, chain, gas), false, 'nor are they offered');
  for (let calls = 0; calls < 4; calls++) assert.equal((await take(scope, chain)).length, 36);
  assert.equal(await take(scope, chain), 'budget');
  for (let calls = 0; calls < 50; calls++) assert.equal((await hand(waiting)).length, 36);
  assert.equal(await hand(waiting), 'queue');
  assert.equal((await take(waiting)).length, 36);
  await sendAll();
});

test('a call enqueued yesterday → its cost counts in yesterday’s budget, not in today’s', async () => {
  const scope = await newScope();
  const id = await take(scope);
  await f.db.sql`update relay_spending set day = day - 1 where partner_id = ${scope.partnerId}`;
  await f.db.sql`update relay_transactions set day = day - 1 where id = ${id}`;
  const left = await budgetLeft(f.db.sql, { scope, chainId: f.chain.chainId, budgetWei: limits.budgetWei });
  assert.equal(left, limits.budgetWei);
  const reserved = await spent(scope);
  await sendAll();
  assert.ok((await spent(scope)) < reserved);
});

test('a caller rolls back after enqueuing → no budget is spent', async () => {
  const scope = await newScope();
  const failed = f.ctx.db.transaction(async (tx) => {
    await enqueueCall(f.ctx, tx, f.call({ scope }), gas);
    throw new Error('no');
  });
  await assert.rejects(failed, /no/);
  assert.equal(await spent(scope), 0n);
});

test('one partner’s calls fill its part of the queue → its next ones are refused, another partner’s are accepted', async () => {
  const [greedy, other] = [await newScope(), await newScope()];
  const taken: string[] = [];
  for (let calls = 0; calls < 101; calls++) taken.push(await take(greedy));
  assert.equal(taken.filter((one) => one === 'queue').length, 1);
  assert.equal(taken.at(-1), 'queue');
  assert.equal((await take(other)).length, 36);
  await sendAll();
  assert.equal((await take(greedy)).length, 36);
});

test('coin for one more call than is under way → one is accepted, and no second', async () => {
  const scope = await newScope();
  const chain = { ...f.chain, relayer: { ...limits, minBalanceWei: 0n } };
  const wei = await reservedBy(await take(scope, chain));
  const [before] = await f.db.sql`select balance_wei from relay_accounts`;
  await f.db.sql`
    update relay_accounts set balance_wei = ${2n * wei - 1n}
      + (select sum(fee_wei) from relay_transactions where state in ('allotted', 'sent'))`;
  assert.equal((await take(scope, chain)).length, 36);
  assert.equal(await take(scope, chain), 'low_coin');
  await f.db.sql`update relay_accounts set balance_wei = ${before?.balance_wei}`;
  await sendAll();
});

test('a call with a huge gas estimate or huge calldata → refused as too large', async () => {
  const scope = await newScope();
  assert.equal(await take(scope, f.chain, 2_000_001n), 'too_large');
  assert.equal(await take(scope, f.chain, 10n ** 40n), 'too_large');
  const long = f.call({ scope, data: `0x${'00'.repeat(20_000)}` });
  await assert.rejects(
    f.ctx.db.transaction((tx) => enqueueCall(f.ctx, tx, long, gas)),
    { reason: 'too_large' },
  );
  assert.equal(await spent(scope), 0n);
});

test('no key, or not the key of the wanted address → the relayer cannot send', async () => {
  const ctx = { ...f.ctx, config: { ...f.ctx.config, relayer: { signers: [] } } };
  assert.equal(await canRelay(ctx, f.chain), false);
  await assert.rejects(
    f.ctx.db.transaction((tx) => enqueueCall(ctx, tx, f.call(), gas)),
    { reason: 'no_key' },
  );
  assert.equal(await canRelay(f.ctx, f.chain, `0x${'12'.repeat(20)}`), false);
});

test('the chain has not answered yet, or not for a while → no call is accepted', async () => {
  const silent = { ...f.chain, chainId: 4_711 };
  assert.equal(await canRelay(f.ctx, silent), false);
  await assert.rejects(
    f.ctx.db.transaction((tx) => enqueueCall(f.ctx, tx, f.call({ chain: silent }), gas)),
    {
      reason: 'not_ready',
    },
  );
  await f.db.sql`update relay_accounts set checked_at = now() - interval '6 minutes'`;
  assert.equal(await canRelay(f.ctx, f.chain), false);
  await f.follow();
  assert.equal(await canRelay(f.ctx, f.chain), true);
});

test('a partner reads another’s relayed call → not found', async () => {
  const [scope, other] = [await newScope(), await newScope()];
  const id = await take(scope);
  assert.equal((await f.db.scoped(scope, (tx) => readRelay(tx, id)))?.state, 'allotted');
  assert.equal(await f.db.scoped(other, (tx) => readRelay(tx, id)), null);
});

test('charges have used nine tenths of a partner’s budget and queue → revocations are still accepted', async () => {
  const [scope, waiting] = [await newScope(), await newScope()];
  const probe = await reservedBy(await take(await newScope()));
  const chain = { ...f.chain, relayer: { ...limits, budgetWei: 10n * probe } };
  const charge = (of: Scope, on = f.chain): Promise<string> =>
    f.ctx.db
      .transaction((tx) => enqueueCall(f.ctx, tx, f.call({ scope: of, chain: on, purpose: 'charge' }), gas))
      .catch((error) => error.reason);
  for (let calls = 0; calls < 9; calls++) assert.equal((await charge(scope, chain)).length, 36);
  assert.equal(await charge(scope, chain), 'budget');
  assert.equal((await take(scope, chain)).length, 36);
  assert.equal(await take(scope, chain), 'budget');
  for (let calls = 0; calls < 90; calls++) assert.equal((await charge(waiting)).length, 36);
  assert.equal(await charge(waiting), 'queue');
  assert.equal((await take(waiting)).length, 36);
  await sendAll();
});
