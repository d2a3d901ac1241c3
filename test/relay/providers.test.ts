import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import { canRelay, dispatch, readRelay, simulate, simulateMany } from '../../src/chain/relay/relay.ts';
import { limitsOf } from '../../src/config/chains.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { approval, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { testRelayer, testRelayerKey } from '../support/chain/relayer.ts';

type Params = readonly unknown[];
/** A false answer of an endpoint: a result, an error, or null for the true answer. */
type Lie = (params: Params) => { result: unknown } | { error: { code: number; message: string; data?: string } } | null;

let f: RelayFixtures;
/** The false answers of the second endpoint, by method. */
const lies: Record<string, Lie> = {};
let away = false;

let provider: Awaited<ReturnType<typeof fakeProvider>>;

before(async () => {
  f = await relayFixtures();
  provider = await fakeProvider(f.url);
  provider.fake.lie = async ({ method, params }) => (away ? 'hang up' : (lies[method]?.(params) ?? null));
});
afterEach(async () => {
  for (const method of Object.keys(lies)) delete lies[method];
  away = false;
  await f.rpc('evm_setAutomine', [true]);
  await f.node.mine(4);
  await f.read();
  await f.follow();
});
after(async () => {
  await provider.stop();
  await f.stop();
});

/** The service with a second endpoint, which may lie; or with that one in front. */
function withSecond(first = false) {
  const chain = { ...f.chain, rpcUrls: first ? [provider.url, f.url] : [f.url, provider.url] };
  return { ctx: { ...f.ctx, chains: { test: [chain], live: [] } }, chain };
}
/** The service with the endpoint that may lie, and no other. */
function withOnlySecond() {
  const chain = { ...f.chain, rpcUrls: [provider.url] };
  return { ctx: { ...f.ctx, chains: { test: [chain], live: [] } }, chain };
}
const hex = (value: number | bigint) => `0x${value.toString(16)}`;

test('one endpoint denies a receipt, or reports another outcome → the call is mined, and ends only once they agree', async () => {
  const { ctx, chain } = withSecond();
  const id = await f.allot(f.call({ chain }), ctx);
  await dispatch(ctx, id);
  lies.eth_getTransactionReceipt = () => ({ result: null });
  await f.node.mine(4);
  await f.read();
  for (let passes = 0; passes < 3; passes++) await f.follow(ctx);
  assert.equal(await f.state(id), 'mined');
  const hash = (await readRelay(f.db.sql, id))?.hash;
  const receipt = (await f.rpc('eth_getTransactionReceipt', [hash])) as object;
  lies.eth_getTransactionReceipt = () => ({ result: { ...receipt, status: '0x0' } });
  await f.follow(ctx);
  assert.equal(await f.state(id), 'mined');
  delete lies.eth_getTransactionReceipt;
  away = true;
  await f.follow(ctx);
  assert.equal(await f.state(id), 'mined');
  away = false;
  await f.follow(ctx);
  assert.equal(await f.state(id), 'final');
});

test('an endpoint claims that a nonce is used → nothing is lost, nothing is sent twice, and no gap opens', async () => {
  for (const first of [true, false]) {
    const { ctx, chain } = withSecond(first);
    await f.rpc('evm_setAutomine', [false]);
    const count = await f.mined();
    const id = await f.allot(f.call({ chain }), ctx);
    await dispatch(ctx, id);
    lies.eth_getTransactionCount = () => ({ result: hex(count + 1_000) });
    for (let passes = 0; passes < 3; passes++) {
      await f.read();
      await f.follow(ctx);
    }
    assert.equal(await f.state(id), 'sent');
    const next = await f.allot(f.call({ chain }), ctx);
    const [row] = await f.db.sql`select nonce from relay_transactions where id = ${next}`;
    assert.equal(Number(row?.nonce), count + 1);
    await dispatch(ctx, next);
    delete lies.eth_getTransactionCount;
    await f.rpc('evm_setAutomine', [true]);
    await f.node.mine(4);
    await f.read();
    await f.follow(ctx);
    await f.follow(ctx);
    assert.deepEqual(await Promise.all([id, next].map(f.state)), ['final', 'final']);
  }
});

test('an endpoint lags behind → a mined call is not sent again for more, nor lost', async () => {
  const { ctx, chain } = withSecond(true);
  const count = await f.mined();
  const id = await f.allot(f.call({ chain }), ctx);
  lies.eth_getTransactionCount = () => ({ result: hex(count) });
  lies.eth_getTransactionReceipt = () => ({ result: null });
  await dispatch(ctx, id);
  await f.node.mine(4);
  await f.read();
  for (let passes = 0; passes < 3; passes++) await f.follow(ctx);
  assert.equal(await f.state(id), 'mined');
  const [row] = await f.db.sql`select count(*)::int as signed from relay_variants where relay_id = ${id}`;
  assert.equal(row?.signed, 1);
  for (const method of Object.keys(lies)) delete lies[method];
  await f.follow(ctx);
  assert.equal(await f.state(id), 'final');
});

test('an endpoint knows a variant, or does not answer → the call is not lost', async () => {
  const { ctx, chain } = withSecond();
  const id = await f.allot(f.call({ chain }), ctx);
  await sendTransaction(f.chain, testRelayerKey, f.call().to, approval(1n));
  await dispatch(ctx, id);
  lies.eth_getTransactionReceipt = () => ({ error: { code: -32_000, message: 'try again' } });
  for (let passes = 0; passes < 3; passes++) {
    await f.node.mine(4);
    await f.read();
    await f.follow(ctx);
  }
  assert.equal(await f.state(id), 'sent');
  delete lies.eth_getTransactionReceipt;
  await f.follow(ctx);
  assert.equal(await f.state(id), 'lost');
});

test('an endpoint accepts a transaction and drops it → it is sent to all once it is late', async () => {
  const { ctx, chain } = withSecond(true);
  lies.eth_sendRawTransaction = () => ({ result: `0x${'11'.repeat(32)}` });
  const id = await f.allot(f.call({ chain }), ctx);
  const count = await f.mined();
  await dispatch(ctx, id);
  await f.node.mine(3);
  assert.equal(await f.mined(), count);
  await f.follow(ctx);
  assert.equal(await f.mined(), count + 1);
});

test('an endpoint claims huge fees → the offer stays below the limit, and little of it goes to the block’s maker', async () => {
  const { ctx, chain } = withSecond(true);
  const only = withOnlySecond();
  const { maxFeeWei } = limitsOf(chain);
  lies.eth_maxPriorityFeePerGas = () => ({ result: hex(10n ** 30n) });
  await f.follow(ctx);
  const id = await f.allot(f.call({ chain }), ctx);
  await dispatch(ctx, id);
  const [row] = await f.db.sql`select max_fee_wei, priority_fee_wei from relay_variants where relay_id = ${id}`;
  assert.ok(BigInt(row?.max_fee_wei) <= maxFeeWei && BigInt(row?.priority_fee_wei) <= maxFeeWei / 5n);
  claimPrice(10n ** 30n);
  await f.follow(only.ctx);
  assert.equal(await canRelay(only.ctx, only.chain), false, 'rather nothing than too much');
});

/** The second endpoint reports another base fee. */
function claimPrice(wei: bigint): void {
  lies.eth_feeHistory = () => ({
    result: { oldestBlock: '0x1', baseFeePerGas: [hex(wei), hex(wei)], reward: [['0x1']] },
  });
}

test('one endpoint claims that gas costs too much or nothing, or that the relayer has no coin → calls are still mined', async () => {
  for (const first of [true, false])
    for (const lie of [
      () => claimPrice(10n ** 30n),
      () => claimPrice(0n),
      () => {
        lies.eth_getBalance = () => ({ result: '0x0' });
      },
    ]) {
      const { ctx, chain } = withSecond(first);
      lie();
      await f.follow(ctx);
      assert.equal(await canRelay(ctx, chain), true);
      const count = await f.mined();
      await dispatch(ctx, await f.allot(f.call({ chain }), ctx));
      assert.equal(await f.mined(), count + 1);
      for (const method of Object.keys(lies)) delete lies[method];
    }
});

test('an endpoint estimates less gas than any transaction uses → the next one is asked', async () => {
  const { ctx, chain } = withSecond(true);
  lies.eth_estimateGas = () => ({ result: '0x0' });
  assert.deepEqual(await simulate(ctx, f.call({ chain })), await simulate(f.ctx, f.call()));
  assert.deepEqual(await simulateMany(ctx, [f.call({ chain }), f.call({ chain })]), [null, null]);
});

/** An endpoint says once that the newest block has a number that no chain reaches; the rest of its answer is true. */
function claimHead(): void {
  lies.eth_feeHistory = () => ({
    result: { oldestBlock: hex(2n ** 52n), baseFeePerGas: [hex(10n ** 9n), hex(10n ** 9n)], reward: [['0x1']] },
  });
}

test('an endpoint claims a far too high head once, while a nonce is used by something else → lost once that is final', async () => {
  const { ctx, chain } = withSecond(true);
  const id = await f.allot(f.call({ chain }), ctx);
  await sendTransaction(f.chain, testRelayerKey, f.call().to, approval(1n));
  await dispatch(ctx, id);
  await f.read();
  claimHead();
  await f.follow(ctx);
  delete lies.eth_feeHistory;
  for (let passes = 0; passes < 3; passes++) {
    await f.node.mine(4);
    await f.read();
    await f.follow(ctx);
  }
  assert.equal(await f.state(id), 'lost');
});

test('the only endpoint claims a far too high head once, and keeps the call from being mined → more is offered for it', async () => {
  const { ctx, chain } = withOnlySecond();
  claimHead();
  await f.follow(ctx);
  const id = await f.allot(f.call({ chain }), ctx);
  lies.eth_sendRawTransaction = () => ({ result: `0x${'00'.repeat(32)}` });
  await dispatch(ctx, id);
  delete lies.eth_feeHistory;
  for (let passes = 0; passes < 2; passes++) {
    await f.node.mine(2);
    await f.read();
    await f.follow(ctx);
  }
  const [row] = await f.db.sql`select count(*)::int as signed from relay_variants where relay_id = ${id}`;
  assert.equal(row?.signed, 2);
});

test('a simulation → reverted only if every endpoint says so; an endpoint that is down → unreachable', async () => {
  const { ctx, chain } = withSecond(true);
  lies.eth_estimateGas = () => ({ error: { code: 3, message: 'execution reverted', data: '0x1234' } });
  assert.equal((await simulate(ctx, f.call({ chain }))).kind, 'ok');
  const failing = f.call({ chain, to: `0x${'00'.repeat(20)}` as const, data: '0x' });
  assert.equal((await simulate(ctx, failing)).kind, 'ok', 'nothing to fail there');
  const reverting = f.call({ chain, data: '0xdeadbeef' });
  assert.deepEqual(await simulate(ctx, reverting), { kind: 'reverted', data: '0x1234' }, 'the other tells no reason');
  const args = [`0x${'12'.repeat(20)}`, 10n ** 30n] as const;
  const tooMuch = f.call({ chain, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) });
  assert.deepEqual(await simulate(ctx, tooMuch), { kind: 'reverted', data: '0x' }, 'they disagree about the reason');
  away = true;
  assert.deepEqual(await simulate(ctx, reverting), { kind: 'unreachable' });
  away = false;
  lies.eth_estimateGas = () => ({ error: { code: -32_603, message: 'internal error' } });
  assert.deepEqual(await simulate(ctx, reverting), { kind: 'unreachable' });
});

test('an endpoint that never answers delays no other chain, and what it hides is found when it is back', async () => {
  const { ctx, chain } = withSecond();
  away = true;
  const id = await f.allot(f.call({ chain }), ctx);
  await dispatch(ctx, id);
  await f.node.mine(4);
  await f.read();
  await f.follow(ctx);
  assert.equal(await f.state(id), 'mined', 'one endpoint is enough to see it');
  away = false;
  await f.follow(ctx);
  assert.equal(await f.state(id), 'final');
});

for (const [what, begin] of Object.entries({
  'does not answer': () => {
    away = true;
  },
  'reports an old count of mined transactions': (count: number) => {
    lies.eth_getTransactionCount = () => ({ result: hex(count) });
  },
}))
  test(`an endpoint ${what} while more calls are mined than nodes keep unmined → later calls are still sent`, async () => {
    const { ctx, chain } = withSecond();
    await f.follow(ctx);
    begin(await f.mined());
    const mined = (await f.mined()) + 200;
    await f.rpc('anvil_setNonce', [testRelayer.address, hex(mined)]);
    await f.db.sql`update relay_accounts set next_nonce = ${mined}`;
    await f.follow(ctx);
    await dispatch(ctx, await f.allot(f.call({ chain }), ctx));
    assert.equal(await f.mined(), mined + 1);
  });
