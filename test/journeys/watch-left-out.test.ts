import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { compareEndpoints } from '../../src/chain/reader/compare.ts';
import { poll, type Reader } from '../../src/chain/reader/read.ts';
import { readUnread } from '../../src/chain/reader/unread.ts';
import { startWatching } from '../../src/chain/reader/watcher.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { listAlarms } from '../../src/db/alarms.ts';
import { dayMs } from '../../src/lib/durations.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: WatchFixtures;
/** The endpoint that is read, and the one that it is compared with. */
let liar: Awaited<ReturnType<typeof fakeProvider>>;
let other: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  fixtures = await watchFixtures();
  liar = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  other = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  await fixtures.request();
  await poll(await fixtures.reader());
});
after(async () => {
  await liar?.stop();
  await other?.stop();
  await fixtures?.stop();
});
beforeEach(async () => {
  liar.fake.lie = async () => null;
  other.fake.lie = async () => null;
  await fixtures.db.sql`delete from alarms`;
  await fixtures.db.sql`delete from unread_transactions`;
  // Comparing begins with the oldest stored block: what an earlier test left out is not found in this one.
  await fixtures.db
    .sql`delete from chain_blocks b using chain_cursors c where b.chain_id = c.chain_id and b.number < c.number`;
});

/** No logs, and blocks whose filters announce none. */
const hidesAll: Lie = async ({ method, params, ask }) => {
  if (method === 'eth_getLogs') return { result: [] };
  if (method !== 'eth_getBlockByNumber') return null;
  const block = (await ask(method, params)) as object | null;
  return { result: block && { ...block, logsBloom: `0x${'0'.repeat(512)}` } };
};
const hidesLogsTo =
  (wallet: string): Lie =>
  async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as { topics: string[] }[];
    return { result: logs.filter(({ topics }) => !topics[2]?.endsWith(wallet.slice(2))) };
  };

/** Tells each transfer to a wallet at its place, but with another recipient or value. */
const changesLogsTo =
  (wallet: string, change: (log: { topics: string[] }) => object): Lie =>
  async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as { topics: string[] }[];
    return { result: logs.map((log) => (log.topics[2]?.endsWith(wallet.slice(2)) ? { ...log, ...change(log) } : log)) };
  };

/** A leader that reads from the liar, up to the chain's head, and knows the other endpoint. */
async function readAll(reader?: Reader): Promise<Reader> {
  const leader = reader ?? (await fixtures.reader([liar.url, other.url]));
  const head = await headNumber(fixtures.node.chain);
  const knows = () => leader.pool.providers.every(({ checked }) => checked === 'yes');
  await pollUntil(leader, async () => knows() && (await fixtures.cursor())?.number === head);
  await poll(leader);
  return leader;
}
/** A payment to the merchant, in one block with another to somebody else, which is in the block's filter. */
async function payBesides(reference: Uint8Array): Promise<string> {
  const { node, merchant } = fixtures;
  const payers = [node.wallet(), node.wallet()] as const;
  for (const { address } of payers) await node.fund(address, 5_000_000n);
  await callRpc(other.url, 'evm_setAutomine', [false]);
  try {
    await node.offer({ from: payers[0], to: node.wallet().address, usdcMicro: 1n });
    const txHash = await node.offer({ from: payers[1], to: merchant.wallet, usdcMicro: 5_000_000n, reference });
    await node.mine(1);
    return txHash;
  } finally {
    await callRpc(other.url, 'evm_setAutomine', [true]);
  }
}
const found = async (txHash: string) => (await fixtures.transfers()).find((row) => row.tx_hash === txHash);
const waiting = async () =>
  (await fixtures.db.sql`select tx_hash from unread_transactions`).map(({ tx_hash }) => tx_hash as string);
const raised = async () => (await listAlarms(fixtures.db.sql, 10)).filter(({ cleared_at }) => cleared_at === null);

const omissions: Record<string, (wallet: string) => Lie> = {
  'leaves out all transfers': () => hidesAll,
  'leaves out those to one wallet': hidesLogsTo,
  'tells another recipient': (wallet) =>
    changesLogsTo(wallet, ({ topics }) => ({ topics: topics.with(2, `0x${'ad'.repeat(20).padStart(64, '0')}`) })),
  'tells that nothing was moved': (wallet) => changesLogsTo(wallet, () => ({ data: `0x${'0'.repeat(64)}` })),
};
/** Tells each transfer to a wallet twice, as of a transaction that pays it twice. */
const doublesLogsTo =
  (wallet: string): Lie =>
  async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as { topics: string[]; logIndex: string }[];
    const again = logs.filter(({ topics }) => topics[2]?.endsWith(wallet.slice(2)));
    return {
      result: [...logs, ...again.map((log) => ({ ...log, logIndex: `0x${(Number(log.logIndex) + 1).toString(16)}` }))],
    };
  };

test('a transaction that pays a wallet twice was left out → set aside once, and the chain goes on', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesLogsTo(fixtures.merchant.wallet);
  other.fake.lie = doublesLogsTo(fixtures.merchant.wallet);
  const txHash = await payBesides(randomBytes(16));
  await readAll(reader);
  await compareEndpoints(reader);
  assert.deepEqual(await waiting(), [txHash]);
});

for (const [what, lieTo] of Object.entries(omissions)) {
  test(`the endpoint that is read ${what} → set aside by the comparison, read, and the alarm names both`, async () => {
    const reader = await readAll();
    await compareEndpoints(reader);
    liar.fake.lie = lieTo(fixtures.merchant.wallet);
    const reference = randomBytes(16);
    const txHash = await payBesides(reference);
    await readAll(reader);
    assert.equal(await found(txHash), undefined);
    await compareEndpoints(reader);
    assert.deepEqual(await waiting(), [txHash]);
    await readUnread(reader);
    assert.deepEqual((await found(txHash))?.calldata_reference, reference);
    const [alarm, ...more] = await raised();
    assert.deepEqual([alarm?.kind, alarm?.subject, more], ['chain-left-out', '31337', []]);
    const { chainId, name: chain } = fixtures.node.chain;
    const [host, by] = [liar, other].map(({ url }) => new URL(url).host);
    assert.deepEqual(alarm?.details, { chainId, chain, host, other: by, transactions: [txHash] });
    await compareEndpoints(reader);
    assert.deepEqual(await waiting(), [], 'compared once');
    reader.comparison.foundAtMs -= dayMs;
    await compareEndpoints(reader);
    assert.deepEqual(await raised(), []);
  });
}

test('the endpoint that is read tells another watched wallet in logs and receipts → an alarm; once it is replaced, the payment is read', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  const { merchant, db } = fixtures;
  const stranger = await makeMerchant(db, fixtures.scope);
  await makeRequest(db, fixtures.scope, stranger);
  const diverts = changesLogsTo(merchant.wallet, ({ topics }) => ({
    topics: topics.with(2, `0x${stranger.wallet.slice(2).padStart(64, '0')}`),
  }));
  liar.fake.lie = async (call) => {
    if (call.method !== 'eth_getTransactionReceipt') return diverts(call);
    const receipt = (await call.ask(call.method, call.params)) as { logs: object[] } | null;
    const ask = async () => receipt?.logs ?? [];
    const told = (await diverts({ ...call, method: 'eth_getLogs', ask })) as { result: object[] };
    return { result: receipt && { ...receipt, logs: told.result } };
  };
  const txHash = await payBesides(randomBytes(16));
  await readAll(reader);
  assert.equal((await found(txHash))?.to_address, stranger.wallet);
  await compareEndpoints(reader);
  assert.deepEqual(
    (await raised()).map(({ kind, details }) => [kind, (details as { transactions: string[] }).transactions]),
    [['chain-left-out', [txHash]]],
  );
  await readUnread(reader);
  assert.deepEqual(await waiting(), []);
  assert.equal((await found(txHash))?.to_address, stranger.wallet, 'nobody can say which of the two lies');

  await db.sql`update transfers set judged_at = now(), reason = 'no_match' where tx_hash = ${txHash}`;
  liar.fake.lie = async () => null;
  const next = await readAll(await fixtures.reader([liar.url, other.url]));
  await compareEndpoints(next);
  assert.deepEqual(await waiting(), [txHash]);
  await readUnread(next);
  const [row] = await db.sql`select to_address, account_id, judged_at from transfers where tx_hash = ${txHash}`;
  assert.deepEqual(row, { to_address: merchant.wallet, account_id: merchant.id, judged_at: null });
});

test('the other endpoint is away, or refuses more than two blocks at once → found once it answers for few', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(6_000_000n);
  await fixtures.node.mine(6);
  other.fake.lie = async () => 'hang up';
  const head = await headNumber(fixtures.node.chain);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === head);
  await compareEndpoints(reader);
  assert.deepEqual(await waiting(), []);
  other.fake.lie = async ({ method, params }) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>;
    const tooMany = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) > 1;
    return tooMany ? { error: { code: -32000, message: 'query exceeds max block range' } } : null;
  };
  await until(async () => {
    await compareEndpoints(reader);
    return (await waiting()).includes(txHash);
  }, 'it is found');
});

test('the other endpoint refuses all logs of a single block → compared by wallet, or passed over where it refuses that too', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const tooMany: Lie = async ({ method, params }) => {
    const { topics } = (params[0] ?? {}) as { topics?: unknown[] };
    if (method !== 'eth_getLogs' || Array.isArray(topics?.[2])) return null;
    return { error: { code: -32005, message: 'query returned more than 10000 results' } };
  };
  other.fake.lie = tooMany;
  const txHash = await payBesides(randomBytes(16));
  await readAll(reader);
  await until(async () => {
    await compareEndpoints(reader);
    return reader.comparison.upTo === reader.cursor?.number;
  }, 'all is compared');
  assert.deepEqual(await waiting(), [txHash]);

  other.fake.lie = async (call) =>
    call.method === 'eth_getLogs' ? { error: { code: -32005, message: 'too many' } } : tooMany(call);
  await fixtures.node.mine(1);
  await readAll(reader);
  await until(async () => {
    await compareEndpoints(reader);
    return reader.comparison.upTo === reader.cursor?.number;
  }, 'what cannot be compared holds up nothing');
});

test('another process leads before what was read was compared → the next leader compares it', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(7_000_000n);
  await readAll(reader);
  const next = await readAll(await fixtures.reader([liar.url, other.url]));
  await compareEndpoints(next);
  assert.ok((await waiting()).includes(txHash));
});

test('an endpoint leaves out a payment only until another process leads → the next leader finds it, nobody is alarmed', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(7_100_000n);
  await readAll(reader);
  liar.fake.lie = async () => null;
  const next = await readAll(await fixtures.reader([liar.url, other.url]));
  await compareEndpoints(next);
  assert.deepEqual(await waiting(), [txHash]);
  await readUnread(next);
  assert.ok(await found(txHash));
  assert.deepEqual(await raised(), []);
});

test('a wallet was paid long before its first request, and another process leads → nothing is set aside', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  await fixtures.node.pay({ from: fixtures.node.wallet(), to: merchant.wallet, usdcMicro: 5n });
  await readAll(reader);
  const next = await readAll(await fixtures.reader([liar.url, other.url]));
  await makeRequest(fixtures.db, fixtures.scope, merchant);
  await fixtures.db.sql`update chain_blocks set block_time = block_time - interval '1 minute'`;
  await compareEndpoints(next);
  assert.ok(next.wallets.owners.has(merchant.wallet));
  assert.deepEqual([await waiting(), await raised()], [[], []]);
});

test('a wallet that is watched since it was paid, and a wallet of nobody → nothing is set aside, nobody is alarmed', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  await fixtures.node.pay({ from: fixtures.node.wallet(), to: merchant.wallet, usdcMicro: 5n });
  await readAll(reader);
  await makeRequest(fixtures.db, fixtures.scope, merchant);
  await fixtures.node.mine(1);
  await readAll(reader);
  assert.ok(reader.wallets.owners.has(merchant.wallet));
  await compareEndpoints(reader);
  assert.deepEqual([await waiting(), await raised()], [[], []]);
  assert.equal(reader.comparison.upTo, await headNumber(fixtures.node.chain));
});

/** A thousand transactions that an endpoint is said to have made up. */
const makeUp = ({ url }: { url: string }) => fixtures.db.sql`
  insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners, told_by)
  select 31337, 0, 'made up', now(), n::text, '[]', '{}', ${new URL(url).host} from generate_series(1, 1000) n`;

test('an endpoint has made up a thousand transactions → no more of its transactions are set aside until these are dropped', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(8_000_000n);
  await readAll(reader);
  await makeUp(other);
  await compareEndpoints(reader);
  assert.equal((await waiting()).includes(txHash), false);
  await fixtures.db.sql`delete from unread_transactions where tx_hash = '7'`;
  await compareEndpoints(reader);
  assert.equal((await waiting()).includes(txHash), true);
});

/** Has the pool read from its second endpoint from now on, as its first one asks for a rest. */
async function readFromSecond(reader: Reader): Promise<void> {
  const [first, second] = reader.pool.providers;
  const { lie } = liar.fake;
  liar.fake.lie = async (call) => (call.method === 'eth_getBlockByNumber' ? { status: 429 } : lie(call));
  await poll(reader);
  liar.fake.lie = lie;
  await pollUntil(reader, async () => reader.cursor !== null && !!first && reader.pool.isAwake(first));
  assert.equal(reader.pool.pick(), second);
}

for (const [what, begin] of Object.entries({
  'has made up a thousand transactions': () => makeUp(other),
  'does not answer': async () => {
    other.fake.lie = async () => 'hang up';
  },
}))
  test(`an endpoint ${what} → what it leaves out itself is found all the same`, async () => {
    const reader = await readAll();
    await compareEndpoints(reader);
    await fixtures.node.mine(1);
    await readAll(reader); // a block that only the other one could be asked about
    await readFromSecond(reader);
    other.fake.lie = hidesAll;
    const txHash = await fixtures.pay(8_050_000n);
    await readAll(reader);
    await begin();
    await compareEndpoints(reader);
    assert.ok((await waiting()).includes(txHash));
  });

test('an endpoint makes up more transactions in one block than are taken of one → no more are set aside', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  const txHash = await fixtures.pay(8_070_000n);
  await readAll(reader);
  other.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const [log] = ((await ask(method, params)) as object[]).slice(-1);
    const more = Array.from({ length: 1_500 }, (_, i) => ({
      ...log,
      transactionHash: `0x${(i + 1).toString(16).padStart(64, '0')}`,
      logIndex: `0x${(i + 1).toString(16)}`,
    }));
    return { result: [log, ...more] };
  };
  for (const _ of [1, 2]) await compareEndpoints(reader);
  assert.equal((await waiting()).length, 1_000);
  assert.ok(await found(txHash));
});

test('the endpoint that leaves out a payment rests afterwards → its answers are compared with the other’s, not with its own', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(8_100_000n);
  await readAll(reader);
  await readFromSecond(reader);
  await compareEndpoints(reader);
  assert.deepEqual(await waiting(), [txHash]);
});

test('the other endpoint is always a block behind → the blocks that it has are compared', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(8_200_000n);
  await fixtures.node.mine(1);
  const head = await headNumber(fixtures.node.chain);
  other.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber') return null;
    if (params[0] === 'latest') return { result: await ask(method, [`0x${(head - 1).toString(16)}`, false]) };
    return Number(params[0]) >= head ? { result: null } : null;
  };
  await readAll(reader);
  await compareEndpoints(reader);
  assert.deepEqual(await waiting(), [txHash]);
  assert.equal(reader.comparison.upTo, head - 1);
});

test('the second of three endpoints is stuck → the third is used for comparison', async () => {
  const third = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  try {
    const reader = await readAll(await fixtures.reader([liar.url, other.url, third.url]));
    await compareEndpoints(reader);
    const head = await headNumber(fixtures.node.chain);
    other.fake.lie = async ({ method, params, ask }) => {
      if (method !== 'eth_getBlockByNumber') return null;
      if (params[0] === 'latest') return { result: await ask(method, [`0x${head.toString(16)}`, false]) };
      return Number(params[0]) > head ? { result: null } : null;
    };
    liar.fake.lie = hidesAll;
    const txHash = await fixtures.pay(8_300_000n);
    await readAll(reader);
    await compareEndpoints(reader);
    assert.deepEqual(await waiting(), [txHash]);
  } finally {
    await third.stop();
  }
});

test('a block is replaced while the other endpoint is asked about it → the new block is compared too', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  const { url } = other;
  await fixtures.node.mine(1);
  const snapshot = await callRpc(url, 'evm_snapshot', []);
  await fixtures.node.mine(2);
  await readAll(reader);
  let txHash = '';
  other.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs' || txHash !== '') return null;
    const logs = await ask(method, params);
    await callRpc(url, 'evm_revert', [snapshot]);
    txHash = await fixtures.pay(8_400_000n);
    await fixtures.node.mine(2);
    liar.fake.lie = hidesAll;
    await readAll(reader);
    return { result: logs };
  };
  await compareEndpoints(reader);
  await compareEndpoints(reader);
  assert.deepEqual(await waiting(), [txHash]);
});

test('transactions that nobody can read wait already → one that was just left out is read before them', async () => {
  const reader = await readAll();
  await compareEndpoints(reader);
  liar.fake.lie = hidesAll;
  const txHash = await fixtures.pay(8_450_000n);
  await readAll(reader);
  const { number, hash } = (await fixtures.cursor()) ?? {};
  await fixtures.db.sql`
    insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners, tries, look_at)
    select 31337, ${number ?? 0}, ${hash ?? ''}, now(), n::text, '[]', '{}', 3, now() - interval '1 minute'
    from generate_series(1, 20) n`;
  await compareEndpoints(reader);
  await readUnread(reader);
  assert.ok(await found(txHash));
});

test('a transaction made up in a block that no endpoint has → dropped after a day, like one that all deny', async () => {
  const reader = await readAll();
  const block = `0x${'ab'.repeat(32)}`;
  await fixtures.db.sql`
    insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners, seen_at)
    select 31337, 1, ${block}, now(), name, '[]', '{}', now() - age
    from (values ('old', interval '25 hours'), ('new', interval '23 hours')) one (name, age)`;
  await readUnread(reader);
  assert.deepEqual(await waiting(), ['new']);
  await fixtures.db.sql`update unread_transactions set seen_at = seen_at - interval '2 hours', look_at = now()`;
  other.fake.lie = async ({ method }) => (method === 'eth_getBlockByNumber' ? 'hang up' : null);
  await readUnread(reader);
  assert.deepEqual(await waiting(), ['new'], 'the other endpoint may have it');
  other.fake.lie = async () => null;
  await fixtures.db.sql`update unread_transactions set look_at = now()`;
  await readUnread(reader);
  assert.deepEqual(await waiting(), []);
});

test('a transaction that one endpoint denies, and about which the other does not answer → sought for longer than a day', async () => {
  const reader = await readAll();
  const txHash = `0x${'ab'.repeat(32)}`;
  await fixtures.db.sql`
    insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners, seen_at)
    select chain_id, number, hash, block_time, ${txHash}, '[]', '{}', now() - interval '25 hours' from chain_cursors`;
  other.fake.lie = async ({ method }) => (method === 'eth_getTransactionReceipt' ? 'hang up' : null);
  await readUnread(reader);
  assert.deepEqual(await waiting(), [txHash]);
  other.fake.lie = async () => null;
  await fixtures.db.sql`update unread_transactions set look_at = now()`;
  await readUnread(reader);
  assert.deepEqual(await waiting(), []);
});

test('a block that is replaced after it was compared → the new block is compared too', async () => {
  const reader = await readAll();
  const { url } = other;
  const snapshot = await callRpc(url, 'evm_snapshot', []);
  await fixtures.node.mine(2);
  await readAll(reader);
  await compareEndpoints(reader);
  await callRpc(url, 'evm_revert', [snapshot]);
  const txHash = await fixtures.pay(8_500_000n);
  await fixtures.node.mine(3);
  liar.fake.lie = hidesAll;
  await readAll(reader);
  await compareEndpoints(reader);
  assert.deepEqual(await waiting(), [txHash]);
});

test('the watcher, whose endpoint leaves out a payment that nobody claims → finds it by itself', async () => {
  liar.fake.lie = hidesAll;
  const stop = new AbortController();
  const chain = { ...fixtures.node.chain, rpcUrls: [liar.url, other.url] };
  const ctx = { ...fixtures.ctx, chains: { test: [chain], live: [] } };
  await fixtures.lease();
  await fixtures.db.sql`update leases set held_until = now() - interval '1 second'`;
  const watching = startWatching(ctx, fixtures.hooks, stop.signal, 50);
  try {
    const txHash = await fixtures.pay(9_000_000n);
    await until(async () => !!(await found(txHash)), 'the payment is found');
  } finally {
    stop.abort();
    await watching;
  }
});
