import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { poll, type Reader } from '../../src/chain/reader/read.ts';
import { searchGaps } from '../../src/chain/reader/tokens-read.ts';
import { readUnread } from '../../src/chain/reader/unread.ts';
import { makeReader } from '../../src/chain/reader/watcher.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';

let fixtures: WatchFixtures;
/** A token with six decimals that nobody pays with. */
const other = { symbol: 'OTHER', address: '0x00000000000000000000000000000000000006de' } as const;
before(async () => {
  fixtures = await watchFixtures();
  // return 6, whatever is asked
  await callRpc(fixtures.node.chain.rpcUrls[0] ?? '', 'anvil_setCode', [other.address, '0x600660005260206000f3']);
  await fixtures.request();
  await poll(await fixtures.reader());
});
after(() => fixtures?.stop());

/** Another process leads, whose file lacks the token or not, and reads up to the head. */
async function leads(has: 'with' | 'without', rpcUrls?: string[]): Promise<Reader> {
  const { node } = fixtures;
  const tokens = [...(has === 'with' ? node.chain.tokens : []), other];
  return readOn(await fixtures.reader(rpcUrls, { tokens }));
}

async function readOn(reader: Reader): Promise<Reader> {
  const head = await headNumber(fixtures.node.chain);
  await poll(reader);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === head);
  return reader;
}

/** Another process leads, whose file has the chain in live mode. */
async function leadsInOtherMode(): Promise<void> {
  const { ctx, node, hooks } = fixtures;
  const place = { chain: node.chain, testMode: false };
  await readOn(await makeReader(ctx, place, await fixtures.lease(), hooks, new AbortController().signal));
}
const gap = async () =>
  (
    await fixtures.db.sql<{ left_at: string | null; back_at: string | null }[]>`
      select left_at, back_at from tokens_read where token_address <> ${other.address}`
  )[0];
const found = async (txHash: string) => (await fixtures.transfers()).find((row) => row.tx_hash === txHash);

test('a token was missing in CHAINS_FILE and is back → what was paid in it meanwhile is found, once', async () => {
  await leads('with');
  const leftAt = String((await fixtures.cursor())?.number);
  const reference = randomBytes(16);
  await leads('without');
  const txHash = await fixtures.pay(5_000_000n, reference);
  await leads('without');
  assert.deepEqual(await gap(), { left_at: leftAt, back_at: null });
  const back = await leads('with');
  assert.equal(await found(txHash), undefined);
  await searchGaps(back);
  await readUnread(back);
  assert.deepEqual((await found(txHash))?.calldata_reference, reference);
  assert.deepEqual(await gap(), { left_at: null, back_at: null });
  assert.equal(back.gaps.isPossible, false);
  const next = await leads('with');
  await searchGaps(next);
  assert.equal((await fixtures.db.sql`select from unread_transactions`).length, 0);
});

test('it is missing again before the blocks without it were searched, and more blocks pass than are stored → found', async () => {
  await leads('without');
  const txHash = await fixtures.pay(6_000_000n);
  await leads('without');
  await leads('with');
  await leads('without');
  await fixtures.node.mine(600);
  const second = await fixtures.pay(7_000_000n);
  await leads('without');
  const back = await leads('with');
  await searchGaps(back);
  await readUnread(back);
  assert.ok(await found(txHash));
  assert.ok(await found(second));
});

test('the endpoint refuses more than two blocks at once → searched in small steps', async () => {
  const small = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  await leads('without');
  const txHash = await fixtures.pay(8_000_000n);
  await fixtures.node.mine(5);
  await leads('without');
  const back = await leads('with', [small.url]);
  small.fake.lie = async ({ method, params }) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>;
    const tooMany = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) > 1;
    return tooMany ? { error: { code: -32000, message: 'query exceeds max block range' } } : null;
  };
  while (back.gaps.isPossible && back.gaps.restUntilMs === 0) await searchGaps(back);
  await readUnread(back);
  assert.ok(await found(txHash));
  await small.stop();
});

test('a reorganisation goes back to before the token was missing → these blocks are searched too', async () => {
  await fixtures.pay(8_500_000n);
  await leads('with');
  const { number = 0 } = (await fixtures.cursor()) ?? {};
  await leads('without');
  await fixtures.node.reorg(2);
  const txHash = await fixtures.pay(9_000_000n);
  await leads('without');
  assert.ok(Number((await gap())?.left_at) < number);
  const back = await leads('with');
  await searchGaps(back);
  await readUnread(back);
  assert.ok(await found(txHash));
});

test('the chain was in the other mode of CHAINS_FILE and is back → what was paid meanwhile is found', async () => {
  await leads('with');
  await leadsInOtherMode();
  const txHash = await fixtures.pay(9_500_000n);
  await leadsInOtherMode();
  await leads('without');
  const back = await leads('with');
  assert.equal(await found(txHash), undefined);
  await searchGaps(back);
  await readUnread(back);
  assert.ok(await found(txHash));
  assert.deepEqual(await gap(), { left_at: null, back_at: null });
  assert.equal((await fixtures.db.sql`select from chain_modes where left_at is null`).length, 1);
});
