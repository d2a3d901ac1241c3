import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { poll } from '../../src/chain/reader/read.ts';
import { startWatching } from '../../src/chain/reader/watcher.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: WatchFixtures;
let provider: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  fixtures = await watchFixtures();
  provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  await fixtures.request();
  await poll(await fixtures.reader());
});
after(async () => {
  await provider?.stop();
  await fixtures?.stop();
});

// If a test fails while the provider lies, the lies end with it.
afterEach(() => {
  provider.fake.lie = async () => null;
});

const found = async (txHash: string) => (await fixtures.transfers()).some((row) => row.tx_hash === txHash);
const refused = { error: { code: -32601, message: 'method not found' } };
type Entry = Record<string, unknown>;

/**
 * Pays, then polls a few times while the provider lies: nothing past the payment may be read. Then ends the lies.
 *
 * @param minedAfter blocks after the payment's; with several, all are requested at once
 */
async function neverPassed(lie: Lie, times: number, minedAfter = 1): Promise<void> {
  const reader = await fixtures.reader([provider.url]);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === (await headNumber(fixtures.node.chain)));
  const txHash = await fixtures.pay(100n);
  const block = await headNumber(fixtures.node.chain);
  await fixtures.node.mine(minedAfter);
  let told = 0;
  provider.fake.lie = async (call) => {
    const answer = await lie(call);
    if (answer) told++;
    return answer;
  };
  await pollUntil(reader, async () => {
    assert.ok(((await fixtures.cursor())?.number ?? 0) < block, 'the cursor passed a block that was not read');
    return told >= times;
  });
  provider.fake.lie = async () => null;
  await pollUntil(reader, () => found(txHash));
}

const lies: Record<string, Lie> = {
  'hangs up': async () => 'hang up',
  'answers 500': async () => ({ status: 500 }),
  'answers 429': async () => ({ status: 429 }),
  'answers with errors': async () => ({ error: { code: -32000, message: 'server busy' } }),
  'answers null': async () => ({ result: null }),
  'says there are no logs, and knows no receipts': async ({ method }) => {
    if (method === 'eth_getBlockReceipts') return refused;
    return method === 'eth_getLogs' ? { result: [] } : null;
  },
  'says there are no logs and no receipts': async ({ method }) =>
    ['eth_getLogs', 'eth_getBlockReceipts'].includes(method) ? { result: [] } : null,
  'refuses the logs of a block, and says there are none to the wallets asked for': async ({ method, params }) => {
    if (method !== 'eth_getLogs') return null;
    const [filter] = params as { topics?: unknown[] }[];
    return (filter?.topics?.length ?? 0) < 3 ? refused : { result: [] };
  },
  'gives logs of another block': async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as Entry[];
    return logs.length > 0 ? { result: logs.map((log) => ({ ...log, blockHash: `0x${'12'.repeat(32)}` })) } : null;
  },
  'gives logs of another token': async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as Entry[];
    return logs.length > 0 ? { result: logs.map((log) => ({ ...log, address: `0x${'34'.repeat(20)}` })) } : null;
  },
  'gives a log twice': async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as Entry[];
    return logs.length > 0 ? { result: logs.flatMap((log) => [log, log]) } : null;
  },
  'has a log without its receipt': async ({ method }) =>
    method === 'eth_getTransactionReceipt' ? { result: null } : null,
  'says that the transaction failed': async ({ method, params, ask }) => {
    if (method !== 'eth_getTransactionReceipt') return null;
    return { result: { ...((await ask(method, params)) as Entry), status: '0x0' } };
  },
  'says that the receipt has another amount': async ({ method, params, ask }) => {
    if (method !== 'eth_getTransactionReceipt') return null;
    const receipt = (await ask(method, params)) as { logs: Entry[] };
    return { result: { ...receipt, logs: receipt.logs.map((log) => ({ ...log, data: `0x${'0'.repeat(63)}1` })) } };
  },
  'sends what is no JSON-RPC': async () => ({ result: { number: 'soon' } }),
};

// The pauses between attempts grow, so the test waits for only a few.
for (const [what, lie] of Object.entries(lies)) {
  test(`a provider that ${what} never moves the cursor, and the payment is found afterwards`, () =>
    neverPassed(lie, what.includes('knows no receipts') ? 2 : 3));
}

for (const what of ['gives logs of another block', 'gives a log twice']) {
  test(`a provider that ${what} among those of several blocks never moves the cursor either`, () =>
    neverPassed(lies[what] as Lie, 2, 5));
}

test('a provider returns no logs for a block → the block’s receipts decide, if its bloom filter fits them', async () => {
  const reader = await fixtures.reader([provider.url]);
  provider.fake.lie = async ({ method }) => (method === 'eth_getLogs' ? { result: [] } : null);
  const txHash = await fixtures.pay(200n);
  await pollUntil(reader, () => found(txHash));
  provider.fake.lie = async () => null;
});

test('a provider silently truncates the logs of a range → the blocks’ bloom filters reveal it', async () => {
  const paid: string[] = [];
  for (let i = 0; i < 6; i++) {
    await fixtures.node.mine(5);
    paid.push(await fixtures.pay(BigInt(300 + i)));
  }
  await fixtures.node.mine(5);
  const reader = await fixtures.reader([provider.url]);
  const ranges: number[] = [];
  provider.fake.lie = async ({ method, params, ask }) => {
    const [filter] = params as { fromBlock?: string; toBlock?: string }[];
    if (method !== 'eth_getLogs' || !filter?.fromBlock) return null;
    ranges.push(Number(filter.toBlock) - Number(filter.fromBlock) + 1);
    return { result: ((await ask(method, params)) as unknown[]).slice(0, 2) };
  };
  const head = await headNumber(fixtures.node.chain);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === head);
  for (const txHash of paid) assert.ok(await found(txHash));
  assert.ok((ranges[1] ?? 0) < (ranges[0] ?? 0), 'asked for fewer blocks');
  provider.fake.lie = async () => null;
});

test('a provider puts one of two payments of a block elsewhere in the logs of a range → both are found in their block', async () => {
  const { node, merchant } = fixtures;
  const url = node.chain.rpcUrls[0] ?? '';
  const falsely: Record<string, (log: Entry) => Entry> = {
    'a block above the range': (log) => ({ ...log, blockNumber: `0x${(Number(log.blockNumber) + 1000).toString(16)}` }),
    'a block below the range': (log) => ({ ...log, blockNumber: '0x1' }),
  };
  for (const [what, change] of Object.entries(falsely)) {
    const reader = await fixtures.reader([provider.url]);
    const head = () => headNumber(node.chain);
    await pollUntil(reader, async () => (await fixtures.cursor())?.number === (await head()));
    const payers = [node.wallet(), node.wallet()];
    for (const { address } of payers) await node.fund(address, 100n);
    await callRpc(url, 'evm_setAutomine', [false]);
    const paid: string[] = [];
    for (const from of payers) paid.push(await node.offer({ from, to: merchant.wallet, usdcMicro: 100n }));
    await node.mine(1);
    await callRpc(url, 'evm_setAutomine', [true]);
    await node.mine(5);
    let told = 0;
    provider.fake.lie = async ({ method, params, ask }) => {
      const [filter] = params as { fromBlock?: string }[];
      if (method !== 'eth_getLogs' || !filter?.fromBlock) return null;
      const logs = (await ask(method, params)) as Entry[];
      const isMoved = (log: Entry) => log.transactionHash === paid[1];
      if (logs.some(isMoved)) told++;
      return { result: logs.map((log) => (isMoved(log) ? change(log) : log)) };
    };
    const last = await head();
    await pollUntil(reader, async () => (await fixtures.cursor())?.number === last);
    const rows = (await fixtures.transfers()).filter(({ tx_hash }) => paid.includes(tx_hash));
    assert.ok(told > 0, what);
    assert.deepEqual(
      rows.map(({ block_number }) => Number(block_number)),
      [last - 5, last - 5],
      what,
    );
    provider.fake.lie = async () => null;
  }
});

test('a provider that limits ranges is asked for fewer blocks at once', async () => {
  await fixtures.node.mine(120);
  const txHash = await fixtures.pay(400n);
  const reader = await fixtures.reader([provider.url]);
  const refusals: string[] = [];
  provider.fake.lie = async ({ method, params }) => {
    const [filter] = params as { fromBlock?: string; toBlock?: string }[];
    if (method !== 'eth_getLogs' || !filter?.fromBlock) return null;
    const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1;
    if (blocks <= 10) return null;
    refusals.push(String(blocks));
    return { error: { code: -32005, message: 'query exceeds max block range 10' } };
  };
  await pollUntil(reader, () => found(txHash));
  assert.ok(refusals.length > 1 && reader.range <= 12);
  provider.fake.lie = async () => null;
});

/** Answers about the newest block as if the chain ended at this one. */
const endsAt =
  (number: number): Lie =>
  async ({ method, params, ask }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest'
      ? { result: await ask(method, [`0x${number.toString(16)}`, false]) }
      : null;

test('the endpoint in use fails, lies or is late → the second one is used at once', async () => {
  const honest = fixtures.node.chain.rpcUrls[0] ?? '';
  const frozen = { at: 0 };
  const late: Lie = (call) => endsAt(frozen.at)(call);
  const otherBranch: Lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber') return null;
    const block = (await ask(method, params)) as Entry;
    return { result: { ...block, parentHash: `0x${'77'.repeat(32)}` } };
  };
  const all = {
    failing: lies['answers 500'],
    lying: lies['says there are no logs, and knows no receipts'],
    late,
    otherBranch,
  };
  for (const [what, lie] of Object.entries(all)) {
    const reader = await fixtures.reader([provider.url, honest]);
    await pollUntil(reader, async () => reader.pool.providers.every(({ checked }) => checked === 'yes'));
    const txHash = await fixtures.pay(500n);
    frozen.at = (await fixtures.cursor())?.number ?? 0;
    if (what === 'late') frozen.at -= 1;
    fixtures.removed.length = 0;
    provider.fake.lie = lie as Lie;
    await pollUntil(reader, () => found(txHash));
    assert.deepEqual(fixtures.removed, [], `${what}: nothing was taken back`);
    provider.fake.lie = async () => null;
  }
});

test('the head of the endpoint in use stays where it is while the second one is ahead → that one is used', async () => {
  const reader = await fixtures.reader([provider.url, fixtures.node.chain.rpcUrls[0] ?? '']);
  const head = await headNumber(fixtures.node.chain);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === head);
  await pollUntil(reader, async () => reader.pool.providers.every(({ checked }) => checked === 'yes'));
  provider.fake.lie = endsAt(head);
  const txHash = await fixtures.pay(500n);
  const [stuck] = reader.pool.providers;
  assert.ok(stuck);
  await poll(reader);
  assert.equal(await found(txHash), false);
  stuck.headAtMs -= 60_000;
  await poll(reader);
  assert.equal(stuck.failures, 1, 'it rests');
  await pollUntil(reader, () => found(txHash));
  provider.fake.lie = async () => null;
});

test('the only endpoint falls behind what was read → nothing is taken back, and reading goes on once it has caught up', async () => {
  const reader = await fixtures.reader([provider.url]);
  const txHash = await fixtures.pay(500n);
  await pollUntil(reader, () => found(txHash));
  const before = await fixtures.cursor();
  fixtures.removed.length = 0;
  provider.fake.lie = endsAt((before?.number ?? 0) - 1);
  await poll(reader);
  assert.deepEqual([await fixtures.cursor(), fixtures.removed], [before, []]);
  provider.fake.lie = async () => null;
  const next = await fixtures.pay(500n);
  await pollUntil(reader, () => found(next));
});

test('one endpoint shows another branch whose blocks fit each other, the second one the blocks that were read → nothing is taken back', async () => {
  const reader = await fixtures.reader([provider.url, fixtures.node.chain.rpcUrls[0] ?? '']);
  await pollUntil(reader, async () => reader.pool.providers.every(({ checked }) => checked === 'yes'));
  const fork = (await fixtures.cursor())?.number ?? 0;
  const txHash = await fixtures.pay(500n);
  await pollUntil(reader, () => found(txHash));
  fixtures.removed.length = 0;
  const onBranch = (hash: unknown) => `0x77${String(hash).slice(4)}`;
  provider.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber') return null;
    const block = (await ask(method, params)) as Entry;
    if (!block || Number(block.number) <= fork) return null;
    const parentHash = Number(block.number) === fork + 1 ? block.parentHash : onBranch(block.parentHash);
    return { result: { ...block, hash: onBranch(block.hash), parentHash } };
  };
  const next = await fixtures.pay(500n);
  await pollUntil(reader, () => found(next));
  assert.deepEqual([fixtures.removed, await found(txHash)], [[], true]);
  provider.fake.lie = async () => null;
});

test('the only endpoint shows another branch whose blocks do not fit each other → nothing is taken back', async () => {
  const reader = await fixtures.reader([provider.url]);
  const txHash = await fixtures.pay(500n);
  await pollUntil(reader, () => found(txHash));
  const before = await fixtures.cursor();
  fixtures.removed.length = 0;
  await fixtures.node.mine(1);
  const [replaced, unknown] = [`0x${'77'.repeat(32)}`, `0x${'99'.repeat(32)}`];
  let told = 0;
  provider.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber') return null;
    const block = (await ask(method, params)) as Entry;
    if (Number(block.number) === (before?.number ?? 0) + 1) return { result: { ...block, parentHash: replaced } };
    if (Number(block.number) !== before?.number) return null;
    told++;
    return { result: { ...block, hash: replaced, parentHash: unknown } };
  };
  await pollUntil(reader, async () => told > 1);
  assert.deepEqual([await fixtures.cursor(), fixtures.removed, await found(txHash)], [before, [], true]);
  provider.fake.lie = async () => null;
  const next = await fixtures.pay(500n);
  await pollUntil(reader, () => found(next));
});

test('a provider that serves another chain → never read', async () => {
  const reader = await fixtures.reader([provider.url]);
  provider.fake.lie = async ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : null);
  const before = await fixtures.cursor();
  await fixtures.node.mine(1);
  await poll(reader);
  assert.deepEqual(await fixtures.cursor(), before);
  provider.fake.lie = async () => null;
});

test('a chain whose provider never answers does not delay another chain', async () => {
  const hung = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  hung.fake.lie = () => new Promise(() => {});
  const other = { ...fixtures.node.chain, chainId: 31_999, rpcUrls: [hung.url] };
  const ctx = { ...fixtures.ctx, chains: { test: [other, fixtures.node.chain], live: [] } };
  await fixtures.db.sql`update leases set held_until = now()`;
  const stop = new AbortController();
  const watching = startWatching(ctx, fixtures.hooks, stop.signal);
  const txHash = await fixtures.pay(600n);
  const isFound = async () => (await fixtures.transfers()).some((row) => row.tx_hash === txHash);
  await until(isFound, 'the payment to be found');
  await until(() => (hung.fake.calls.get('eth_chainId') ?? 0) > 0, 'the other one to be asked');
  stop.abort();
  await hung.stop();
  await watching;
});
