import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { poll, type Reader } from '../../src/chain/reader/read.ts';
import { searchGaps } from '../../src/chain/reader/tokens-read.ts';
import { readUnread } from '../../src/chain/reader/unread.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { listAlarms } from '../../src/db/alarms.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: WatchFixtures;
type Provider = Awaited<ReturnType<typeof fakeProvider>>;
let providers: [Provider, Provider, Provider];
/** A token with six decimals that nobody pays with. */
const unpaid = { symbol: 'OTHER', address: '0x00000000000000000000000000000000000006de' } as const;

before(async () => {
  fixtures = await watchFixtures();
  const url = fixtures.node.chain.rpcUrls[0] ?? '';
  await callRpc(url, 'anvil_setCode', [unpaid.address, '0x600660005260206000f3']); // return 6, whatever is asked
  providers = [await fakeProvider(url), await fakeProvider(url), await fakeProvider(url)];
  await fixtures.request();
  await poll(await fixtures.reader());
});
after(async () => {
  for (const provider of providers ?? []) await provider.stop();
  await fixtures?.stop();
});
beforeEach(async () => {
  for (const { fake } of providers) fake.lie = async () => null;
  await fixtures.db.sql`delete from alarms`;
  await fixtures.db.sql`delete from unread_transactions`;
});

const honest = async () => null;
const isAway: Lie = async () => 'hang up';
const hidesLogs: Lie = async ({ method }) => (method === 'eth_getLogs' ? { result: [] } : null);
const refusesLogs: Lie = async ({ method }) =>
  method === 'eth_getLogs' ? { error: { code: -32000, message: 'history has been pruned' } } : null;

/** A leader that has read up to the head through these endpoints, each of which it has checked. */
async function leads(has: 'with' | 'without', urls: string[], isReady = allChecked): Promise<Reader> {
  const { node } = fixtures;
  const tokens = [...(has === 'with' ? node.chain.tokens : []), unpaid];
  const reader = await fixtures.reader(urls, { tokens });
  const head = await headNumber(node.chain);
  await pollUntil(reader, async () => isReady(reader) && (await fixtures.cursor())?.number === head);
  await poll(reader);
  return reader;
}
const allChecked = ({ pool }: Reader) => pool.providers.every(({ checked }) => checked === 'yes');

/** Pays while the token is missing, so long ago that no leader compares endpoints about it. */
async function payUnread(usdcMicro: bigint): Promise<string> {
  await leads('without', fixtures.node.chain.rpcUrls);
  const txHash = await fixtures.pay(usdcMicro);
  await fixtures.node.mine(2);
  await leads('without', fixtures.node.chain.rpcUrls);
  await fixtures.db
    .sql`delete from chain_blocks b using chain_cursors c where b.chain_id = c.chain_id and b.number < c.number`;
  return txHash;
}
const gap = async () =>
  (await fixtures.db.sql`select from tokens_read where token_address <> ${unpaid.address} and back_at is not null`)
    .length > 0;
const found = async (txHash: string) => (await fixtures.transfers()).find((row) => row.tx_hash === txHash);
const urls = (count: number) => providers.slice(0, count).map(({ url }) => url);
const hostOf = ({ url }: Provider) => new URL(url).host;

/** Searches until the gap is closed, or the endpoints are left alone for a while. */
async function search(reader: Reader): Promise<void> {
  reader.gaps.restUntilMs = 0;
  await until(async () => {
    if (!reader.cursor) await poll(reader); // an endpoint was slow
    await searchGaps(reader);
    await readUnread(reader);
    return !reader.gaps.isPossible || reader.gaps.restUntilMs > 0;
  }, 'the search ends');
}

for (const count of [2, 3])
  for (const liar of [0, 1])
    test(`endpoint ${liar + 1} of ${count} hides what was paid in a token that was missing → found, and the alarm names both`, async () => {
      const txHash = await payUnread(5_000_000n);
      const reader = await leads('with', urls(count));
      const [lies, tells] = [providers[liar], providers[1 - liar]] as [Provider, Provider];
      lies.fake.lie = hidesLogs;
      await search(reader);
      assert.ok(await found(txHash));
      assert.equal(await gap(), false);
      const [alarm] = await listAlarms(fixtures.db.sql, 10);
      const { chainId, name: chain } = fixtures.node.chain;
      const details = { chainId, chain, host: hostOf(lies), other: hostOf(tells), transactions: [txHash] };
      assert.deepEqual([alarm?.kind, alarm?.details], ['chain-left-out', details]);
    });

test('the other endpoint is away → the search waits for it and then finds the payment, also where the first hides it', async () => {
  const [first, second] = providers;
  const txHash = await payUnread(6_000_000n);
  const reader = await leads('with', urls(2));
  first.fake.lie = hidesLogs;
  second.fake.lie = isAway;
  await search(reader);
  assert.equal(await gap(), true);
  second.fake.lie = honest;
  await search(reader);
  assert.ok(await found(txHash));
  assert.equal(await gap(), false);
});

test('one of three endpoints has never answered → the other two are asked', async () => {
  providers[1].fake.lie = isAway;
  const txHash = await payUnread(6_100_000n);
  const reader = await leads('with', urls(3), ({ pool }) => [0, 2].every((i) => pool.providers[i]?.checked === 'yes'));
  providers[0].fake.lie = hidesLogs;
  await search(reader);
  assert.ok(await found(txHash));
  assert.equal(await gap(), false);
});

test('an endpoint does not have the newest blocks yet → they are searched once it has them', async () => {
  const before = await headNumber(fixtures.node.chain);
  const txHash = await payUnread(6_200_000n);
  providers[0].fake.lie = async ({ method, params, ask }) => {
    if (method === 'eth_getLogs') return { result: [] };
    if (method !== 'eth_getBlockByNumber') return null;
    if (params[0] === 'latest') return { result: await ask(method, [`0x${before.toString(16)}`, false]) };
    return Number(params[0]) > before ? { result: null } : null;
  };
  const reader = await leads('with', urls(2));
  await search(reader);
  assert.equal(await gap(), true);
  providers[0].fake.lie = honest;
  const [first] = reader.pool.providers;
  await pollUntil(reader, async () => reader.cursor !== null && !!first && reader.pool.isAwake(first));
  await search(reader);
  assert.ok(await found(txHash));
  assert.equal(await gap(), false);
});

test('an endpoint has no such old logs → the other one’s are searched alone', async () => {
  for (const refuses of [0, 1]) {
    const txHash = await payUnread(6_300_000n + BigInt(refuses));
    const reader = await leads('with', urls(2));
    const provider = providers[refuses] as Provider;
    provider.fake.lie = refusesLogs;
    await search(reader);
    assert.ok(await found(txHash));
    assert.equal(await gap(), false);
    provider.fake.lie = honest;
  }
});

test('no endpoint has such old logs → they are left alone for a while, and the search goes on when one has', async () => {
  const txHash = await payUnread(6_400_000n);
  const reader = await leads('with', urls(2));
  for (const { fake } of providers) fake.lie = refusesLogs;
  await search(reader);
  assert.equal(await gap(), true);
  for (const { fake } of providers) fake.lie = honest;
  await search(reader);
  assert.ok(await found(txHash));
});

test('the only endpoint refuses all logs of a block → those to watched wallets are requested', async () => {
  const txHash = await payUnread(6_500_000n);
  const receipt = (await callRpc(providers[0].url, 'eth_getTransactionReceipt', [txHash])) as { blockNumber: string };
  const number = Number(receipt.blockNumber);
  const reader = await leads('with', urls(1));
  providers[0].fake.lie = async ({ method, params }) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>;
    const isCrowded = method === 'eth_getLogs' && Number(fromBlock) <= number && number <= Number(toBlock);
    return isCrowded ? { error: { code: -32005, message: 'query returned more than 10000 results' } } : null;
  };
  await search(reader);
  assert.ok(await found(txHash));
  assert.equal(await gap(), false);
});

test('an endpoint makes up thousands of transactions → a thousand wait, and what the other reports is found', async () => {
  const txHash = await payUnread(6_600_000n);
  const reader = await leads('with', urls(2));
  providers[0].fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const [log] = (await ask(method, params)) as object[];
    if (!log) return { result: [] };
    const madeUp = Array.from({ length: 1_500 }, (_, i) => ({
      ...log,
      transactionHash: `0x${(i + 1).toString(16).padStart(64, '0')}`,
      logIndex: `0x${(i + 1).toString(16)}`,
    }));
    return { result: madeUp };
  };
  await search(reader);
  await fixtures.db.sql`update unread_transactions set tries = 1 where tx_hash <> ${txHash}`;
  await search(reader);
  assert.ok(await found(txHash));
  assert.equal(await gap(), false);
  const [waiting] = await fixtures.db.sql<{ count: number }[]>`select count(*)::int as count from unread_transactions`;
  assert.ok((waiting?.count ?? 0) <= 1_000);
});
