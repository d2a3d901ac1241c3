import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { confirmTransfer } from '../../src/chain/confirm.ts';
import { poll, type Reader } from '../../src/chain/reader/read.ts';
import { readUnread } from '../../src/chain/reader/unread.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { headNumber, waitMined } from '../../src/sandbox/wallet.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { giants } from '../support/chain/giant-transactions.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: WatchFixtures;
let provider: Awaited<ReturnType<typeof fakeProvider>>;
let giant: Awaited<ReturnType<typeof giants>>;
before(async () => {
  fixtures = await watchFixtures();
  giant = await giants(fixtures.node);
  provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  await fixtures.request();
  await poll(await fixtures.reader());
});
beforeEach(() => {
  provider.fake.lie = async () => null;
});
after(async () => {
  await provider?.stop();
  await fixtures?.stop();
});

const refused = { error: { code: -32000, message: 'response size exceeded' } };
const refuse =
  (...methods: string[]): Lie =>
  async ({ method }) =>
    methods.includes(method) ? refused : null;
const found = async (txHash: string) => (await fixtures.transfers()).some((row) => row.tx_hash === txHash);
const rowOf = async (txHash: string) => (await fixtures.transfers()).find((row) => row.tx_hash === txHash);
const unread = () => fixtures.db.sql`select tx_hash, stored_at from unread_transactions`;
const alarms = async () => [...(await raisedAlarms(fixtures.db.sql)).keys()];
const caughtUp = (reader: Reader) =>
  pollUntil(reader, async () => (await fixtures.cursor())?.number === (await headNumber(fixtures.node.chain)));

/** Retries what was set aside, as if its wait were over, until the condition holds. */
const triedUntil = (reader: Reader, what: string, holds: () => Promise<boolean>) =>
  until(async () => {
    await fixtures.db.sql`update unread_transactions set look_at = now()`;
    await readUnread(reader);
    return holds();
  }, what);

/** The positions of a giant's transfers according to its receipt, however long that is. */
async function places(txHash: string): Promise<{ ordinal: number; logIndex: number }[]> {
  const url = fixtures.node.chain.rpcUrls[0] ?? '';
  const receipt = await callRpc(url, 'eth_getTransactionReceipt', [txHash], 60_000, 2 ** 30);
  const { logs } = receipt as { logs: { topics: string[]; logIndex: string }[] };
  return logs.flatMap(({ topics, logIndex }, ordinal) =>
    topics.length === 3 ? [{ ordinal, logIndex: Number(logIndex) }] : [],
  );
}

test('a receipt of 38 MiB → its transfer is found and confirmed, and reading continues', async () => {
  const reader = await fixtures.reader();
  await caughtUp(reader);
  const hashes: string[] = [];
  await giant.together(async () => {
    hashes.push(await giant.send({ logs: 3, transfers: 1, to: fixtures.merchant.wallet, usdcMicro: 1n }));
    hashes.push(await giant.send({ logs: 110_000, transfers: 1, to: fixtures.merchant.wallet, usdcMicro: 1n }));
  });
  const later = await fixtures.pay(5n);
  await pollUntil(reader, () => found(later));
  // A busy endpoint may have had no time for the long one, which was set aside then.
  for (const txHash of hashes) await triedUntil(reader, 'it is found', () => found(txHash));
  for (const [i, txHash] of hashes.entries()) {
    const row = await rowOf(txHash);
    assert.deepEqual([{ ordinal: row?.ordinal, logIndex: row?.log_index }], await places(txHash));
    assert.ok(row);
    const key = {
      txHash,
      ordinal: row.ordinal,
      logIndex: row.log_index,
      blockNumber: Number(row.block_number),
      blockHash: row.block_hash,
      blockTime: row.block_time,
      tokenAddress: fixtures.node.chain.tokens[0]?.address ?? '',
      fromAddress: row.from_address,
      toAddress: row.to_address,
      value: 1n,
      calldata: null,
      bindings: null,
    };
    await until(async () => (await confirmTransfer(fixtures.node.chain, key)) === 'agreed', 'it is confirmed');
    // The short receipt is checked by the ordinal, the long one by the block's logs.
    const elsewhere = i === 0 ? { ordinal: row.ordinal + 1 } : { logIndex: row.log_index + 1 };
    for (const wrong of [{ value: 2n }, elsewhere, { blockHash: txHash }]) {
      assert.notEqual(await confirmTransfer(fixtures.node.chain, { ...key, ...wrong }), 'agreed');
    }
  }
});

test('two giant transactions in a row → the second is set aside with an alarm, and stored in its place once it can be read', async () => {
  const reader = await fixtures.reader([provider.url]);
  await caughtUp(reader);
  const hashes: string[] = [];
  await giant.together(async () => {
    // Together they exceed the size of a message, and each exceeds that of a single query.
    for (let i = 0; i < 2; i++) {
      hashes.push(await giant.send({ logs: 52_000, transfers: 1, to: fixtures.merchant.wallet, usdcMicro: 1n }));
    }
  });
  const [first = '', second = ''] = hashes;
  const later = await fixtures.pay(6n);
  await pollUntil(reader, () => found(later));
  // A busy endpoint may have no time for the first one either.
  const aside = (await unread()).map(({ tx_hash }) => tx_hash);
  assert.ok(aside.includes(second) && !(await found(second)));
  assert.ok(aside.includes(first) !== (await found(first)));
  await fixtures.db.sql`update unread_transactions set seen_at = now() - interval '2 minutes'`;
  await readUnread(reader);
  assert.ok((await alarms()).includes('chain-unread:31337'));

  // Another endpoint may return what this one does not: the receipt of the first, cut to what matters.
  provider.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getTransactionReceipt' || params[0] !== first) return null;
    const receipt = (await ask(method, params)) as { logs: unknown[] };
    return { result: { ...receipt, logs: receipt.logs.slice(-1) } };
  };
  await triedUntil(reader, 'both are found', async () => (await unread()).length === 0);
  const row = await rowOf(second);
  assert.deepEqual([{ ordinal: row?.ordinal, logIndex: row?.log_index }], await places(second));
  await readUnread(reader);
  assert.ok(!(await alarms()).includes('chain-unread:31337'));
});

for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
  test(`a provider that refuses ${method} for a while → the payment is found with its reference afterwards`, async () => {
    const reader = await fixtures.reader([provider.url]);
    await caughtUp(reader);
    const request = await fixtures.request();
    provider.fake.lie = refuse(method, 'eth_getBlockByHash');
    const txHash = await fixtures.pay(7n, request.reference);
    await caughtUp(reader);
    await readUnread(reader);
    assert.ok(!(await found(txHash)));
    provider.fake.lie = async () => null;
    await triedUntil(reader, 'the payment is read', async () => (await unread()).length === 0);
    assert.deepEqual((await rowOf(txHash))?.calldata_reference, Buffer.from(request.reference));
  });
}

for (const [what, answer] of Object.entries({
  'a dropped connection': 'hang up',
  'status 429': { status: 429 },
} as const)) {
  test(`a receipt on which all endpoints answer with ${what} → the next block's payment is found, and that one later`, async () => {
    const reader = await fixtures.reader([provider.url]);
    await caughtUp(reader);
    let poison = '';
    provider.fake.lie = async ({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] === poison ? answer : null;
    poison = await fixtures.pay(1n);
    const later = await fixtures.pay(9n);
    await pollUntil(reader, () => found(later));
    provider.fake.lie = async () => null;
    await triedUntil(reader, 'the first is found', () => found(poison));
  });
}

test('a transaction that no endpoint returns for two minutes → its payment is stored without a reference, with an alarm', async () => {
  const reader = await fixtures.reader([provider.url]);
  await caughtUp(reader);
  provider.fake.lie = refuse('eth_getTransactionByHash');
  const txHash = await fixtures.pay(8n, (await fixtures.request()).reference);
  await caughtUp(reader);
  await readUnread(reader);
  assert.ok(!(await found(txHash)));
  await fixtures.db.sql`update unread_transactions set seen_at = now() - interval '2 minutes'`;
  await triedUntil(reader, 'the payment is stored', () => found(txHash));
  assert.equal((await rowOf(txHash))?.calldata_reference, null);
  assert.equal((await rowOf(txHash))?.calldata_read, false);
  await readUnread(reader);
  assert.ok((await alarms()).includes('chain-unread:31337'));
  await fixtures.db.sql`update unread_transactions set stored_at = now() - interval '25 hours'`;
  await readUnread(reader);
  assert.ok(!(await alarms()).includes('chain-unread:31337'));
});

test('a transaction that was set aside is forgotten if a reorganisation removes its block', async () => {
  const reader = await fixtures.reader([provider.url]);
  await caughtUp(reader);
  provider.fake.lie = refuse('eth_getTransactionByHash');
  await fixtures.pay(9n);
  await caughtUp(reader);
  assert.equal((await unread()).length, 1);
  await fixtures.node.reorg(1);
  await caughtUp(reader);
  await pollUntil(reader, async () => (await unread()).length === 0);
});

test('a block with more transfers than a provider returns → only those to watched wallets are requested', async () => {
  const reader = await fixtures.reader([provider.url]);
  await caughtUp(reader);
  provider.fake.lie = async ({ method, params }) => {
    const [filter] = params as { topics?: unknown[] }[];
    return method === 'eth_getLogs' && (filter?.topics?.length ?? 0) < 3 ? refused : null;
  };
  const txHash = await fixtures.pay(10n);
  await pollUntil(reader, () => found(txHash));
});

test('a block whose logs no endpoint returns → set aside as a whole, and read once one does', async () => {
  const reader = await fixtures.reader([provider.url]);
  await caughtUp(reader);
  provider.fake.lie = refuse('eth_getLogs');
  const txHash = await giant.send({ logs: 0, transfers: 1, to: fixtures.merchant.wallet, usdcMicro: 1n });
  assert.equal(await waitMined(fixtures.node.chain.rpcUrls[0] ?? '', txHash), '0x1');
  await caughtUp(reader);
  assert.ok(!(await found(txHash)));
  provider.fake.lie = async () => null;
  await triedUntil(reader, 'the payment is found', () => found(txHash));
});

test('thousands of transfers of one transaction are all found, each once', async () => {
  const reader = await fixtures.reader();
  await caughtUp(reader);
  const txHash = await giant.send({ logs: 2, transfers: 3_000, to: fixtures.merchant.wallet, usdcMicro: 1n });
  await pollUntil(reader, () => found(txHash));
  const own = (await fixtures.transfers()).filter((row) => row.tx_hash === txHash);
  assert.deepEqual(
    own.map(({ ordinal }) => ordinal).sort((a, b) => a - b),
    Array.from({ length: 3_000 }, (_, i) => i + 2),
  );
});
