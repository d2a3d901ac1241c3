import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { followRelays } from '../../src/chain/relay/follow.ts';
import { canRelay, dispatch, readRelay } from '../../src/chain/relay/relay.ts';
import { toHex } from '../../src/chain/rpc.ts';
import { limitsOf } from '../../src/config/chains.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { passTime, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { fundRelayer, testRelayer } from '../support/chain/relayer.ts';

const gwei = 10n ** 9n;
const limits = {
  ...limitsOf({}),
  ...{ maxFeeWei: 200n * gwei, budgetWei: 10n ** 20n },
  ...{ minBalanceWei: 10n ** 17n, resendMs: 1_000 },
};

let f: RelayFixtures;
before(async () => {
  f = await relayFixtures({ relayer: limits });
});
beforeEach(() => f.rpc('evm_setAutomine', [false]));
afterEach(async () => {
  await f.rpc('evm_setAutomine', [true]);
  await f.node.mine(4);
  await f.read();
  await f.follow();
});
after(() => f.stop());

const variants = (id: string) =>
  f.db.sql<{ hash: string; max_fee_wei: string; priority_fee_wei: string; cancels: boolean }[]>`
    select hash, max_fee_wei, priority_fee_wei, cancels from relay_variants where relay_id = ${id} order by max_fee_wei`;
const pending = async () =>
  (await f.rpc('txpool_content')) as { pending: Record<string, Record<string, { hash: string }>> };
const troubleOf = async (id: string) =>
  (await f.db.sql`select trouble from relay_transactions where id = ${id}`)[0]?.trouble as string | null;
/** Makes blocks that leave the relayer's transactions out. */
const blocksWithout = async (blocks: number) => {
  await f.rpc('anvil_dropAllTransactions');
  await f.node.mine(blocks);
};

test('not mined in time → sent again under its nonce, both fees an eighth higher; the chain takes the later one', async () => {
  const id = await f.allot(f.call());
  await f.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(100n * gwei)]);
  await f.node.mine(1); // the base fee is now far above what the first variant offers
  await dispatch(f.ctx, id);
  const [first] = await variants(id);
  await f.node.mine(2);
  assert.equal(await f.mined(), 0, 'it offers too little');
  await f.follow();
  const both = await variants(id);
  assert.equal(both.length, 2);
  for (const name of ['max_fee_wei', 'priority_fee_wei'] as const) {
    assert.ok(8n * BigInt(both[1]?.[name] ?? 0) >= 9n * BigInt(first?.[name] ?? 0), name);
  }
  const mine = Object.values((await pending()).pending).flatMap((of) => Object.values(of));
  assert.deepEqual(
    mine.map(({ hash }) => hash),
    [both[1]?.hash],
  );
  await f.node.mine(1);
  await f.read();
  await f.follow();
  const mined = await readRelay(f.db.sql, id);
  assert.deepEqual([mined?.state, mined?.hash], ['mined', both[1]?.hash]);
});

test('a chain that makes no blocks → fees are not raised', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  for (let passes = 0; passes < 3; passes++) await f.follow();
  assert.equal((await variants(id)).length, 1);
});

test('dropped by the nodes → sent again; the first variant is mined after all → that one counts', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  const [first] = await f.db.sql<{ signed: Buffer }[]>`select signed from relay_variants where relay_id = ${id}`;
  await blocksWithout(3);
  await f.follow();
  assert.equal((await variants(id)).length, 2);
  await f.rpc('anvil_dropAllTransactions');
  await f.rpc('eth_sendRawTransaction', [`0x${first?.signed.toString('hex')}`]);
  await f.node.mine(1);
  await f.read();
  await f.follow();
  const mined = await readRelay(f.db.sql, id);
  assert.deepEqual([mined?.state, mined?.hash], ['mined', (await variants(id))[0]?.hash]);
});

test('transactions behind a dropped one are sent again unchanged, and all are mined in order', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await f.allot(f.call()));
  for (const id of ids) await dispatch(f.ctx, id);
  await blocksWithout(3);
  const before = await f.mined();
  await f.follow();
  assert.equal((await variants(ids[0] ?? '')).length, 2);
  assert.equal((await variants(ids[4] ?? '')).length, 1);
  await f.node.mine(1);
  assert.equal(await f.mined(), before + 5);
});

test('fees rise up to the limit and no further; while gas costs more than it, nothing is sent, with an alarm', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  for (let passes = 0; passes < 60; passes++) {
    await blocksWithout(3);
    await f.follow();
  }
  const all = await variants(id);
  assert.ok(all.length > 10 && all.every(({ max_fee_wei }) => BigInt(max_fee_wei) <= limits.maxFeeWei));
  await f.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(2n * limits.maxFeeWei)]);
  await blocksWithout(1);
  await f.follow();
  assert.equal(await canRelay(f.ctx, f.chain), false);
  await assert.rejects(f.allot(f.call()), { reason: 'fees' });
  assert.match((await raisedAlarms(f.db.sql)).get(`relay-fees:31337:${testRelayer.address}`) ?? '', /sends nothing/);
  await f.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(gwei)]);
  await blocksWithout(1);
  await f.follow();
  assert.equal(await canRelay(f.ctx, f.chain), true);
  assert.equal((await raisedAlarms(f.db.sql)).has(`relay-fees:31337:${testRelayer.address}`), false);
  await f.follow(); // the last variant is sent again
  await f.node.mine(1);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
});

test('the account is emptied → the call waits with its nonce, an alarm says where coin is needed, and ends by itself', async () => {
  const id = await f.allot(f.call());
  await fundRelayer(f.node.chain, 1_000n);
  await dispatch(f.ctx, id);
  assert.match((await troubleOf(id)) ?? '', /^insufficient_funds: /);
  await f.follow();
  assert.equal(await canRelay(f.ctx, f.chain), false);
  await assert.rejects(f.allot(f.call()), { reason: 'low_coin' });
  const alarm = (await raisedAlarms(f.db.sql)).get(`relay-low-coin:31337:${testRelayer.address}`);
  assert.match(alarm ?? '', new RegExp(testRelayer.address));
  assert.equal(await f.state(id), 'sent');
  await fundRelayer(f.node.chain);
  await f.follow();
  assert.equal(await canRelay(f.ctx, f.chain), true);
  assert.equal((await raisedAlarms(f.db.sql)).size, 0);
  await f.node.mine(1);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
});

test('a call that every endpoint refuses → a transfer of nothing takes its nonce, the call is lost, and later calls continue', async () => {
  const [stuck, next] = [await f.allot(f.call()), await f.allot(f.call())];
  await f.db.sql`update relay_transactions set gas = 20000 where id = ${stuck}`; // below what any transaction needs
  for (const id of [stuck, next]) await dispatch(f.ctx, id);
  assert.match((await troubleOf(stuck)) ?? '', /^refused: /);
  for (let passes = 0; passes < 3; passes++) {
    await f.node.mine(1);
    await f.follow();
  }
  assert.deepEqual(
    (await variants(stuck)).map(({ cancels }) => cancels),
    [false, true],
  );
  await f.node.mine(5);
  await f.read();
  await f.follow();
  await f.follow();
  assert.equal(await f.state(stuck), 'lost');
  assert.equal(await f.state(next), 'final');
});

test('first in line for ten minutes → an alarm names it, until it is mined', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  await passTime(f.db, 700);
  await blocksWithout(3);
  await f.follow();
  assert.match((await raisedAlarms(f.db.sql)).get(`relay-stuck:31337:${testRelayer.address}`) ?? '', /nonce \d+/);
  await f.node.mine(1);
  await f.read();
  await f.follow();
  assert.equal((await raisedAlarms(f.db.sql)).size, 0);
  assert.equal(await f.state(id), 'mined');
});

test('stopped after a call was enqueued, until it is not wanted any more → never signed; its nonce is used up', async () => {
  const id = await f.allot(f.call());
  await passTime(f.db, 60);
  await dispatch(f.ctx, id); // by the process that enqueued it, now that it goes on
  assert.equal(await f.state(id), 'allotted');
  await followRelays(f.ctx, f.chain, async () => new Set([id]));
  assert.deepEqual(
    (await variants(id)).map(({ cancels }) => cancels),
    [true],
  );
  await f.node.mine(4);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'lost');
});
