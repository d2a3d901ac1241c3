import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import type { Database, Scope } from '../../src/db/connection.ts';
import { runJobs } from '../../src/jobs.ts';
import { matchPending } from '../../src/payments/match.ts';
import { rematchKnownTokens } from '../../src/payments/removed-tokens.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { readUpTo, store, tableEndpoint } from '../support/payments/table-chain.ts';
import { until } from '../support/until.ts';

const quick: ChainConfig = idleChain(31337);

let database: Awaited<ReturnType<typeof testDatabase>>;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [quick], live: [] } });
  await readUpTo(database.db, quick.chainId, 100);
});
after(() => database?.drop());

async function payee(scope: Scope) {
  const merchant = await makeMerchant(database.db, scope);
  return { scope, wallet: merchant.wallet, accountId: merchant.id };
}

async function isMatched(db: Database, txHash: string): Promise<boolean> {
  const rows = await db.sql`select from transfers where tx_hash = ${txHash} and judged_at is not null`;
  return rows.length > 0;
}

test('thousands of transfers to one wallet → those to others, of any partner, are judged in the next pass', async () => {
  const { test: scope } = await makePartner(database.db);
  const { test: otherScope } = await makePartner(database.db);
  const [flooded, neighbour, stranger] = [await payee(scope), await payee(scope), await payee(otherScope)];
  await store(database.db, quick, flooded, Array(400).fill({ blockNumber: 90, value: '1' }));
  const late = [
    ...(await store(database.db, quick, neighbour, [{ blockNumber: 95, value: '5' }])),
    ...(await store(database.db, quick, stranger, [{ blockNumber: 95, value: '5' }])),
  ];
  await matchPending(ctx);
  for (const txHash of late) assert.ok(await isMatched(database.db, txHash));
  while ((await matchPending(ctx)) > 0);
  const left = await database.db.sql`select from transfers where judged_at is null`;
  assert.equal(left.length, 0);
});

test('a chain whose endpoint does not answer delays the matching on no other', async () => {
  const endpoints = [await tableEndpoint(database.db), await tableEndpoint(database.db)];
  const slow = { ...idleChain(31339), rpcUrls: endpoints.map(({ url }) => url) };
  await readUpTo(database.db, slow.chainId, 100);
  const { test: scope } = await makePartner(database.db);
  const merchant = await payee(scope);
  const [, second] = endpoints;
  const [held = ''] = await store(database.db, slow, merchant, [{ blockNumber: 90, value: '1' }]);
  second?.endpoint.lies.set(held, 'silent');

  const stop = new AbortController();
  const jobs = runJobs({ ...ctx, chains: { test: [slow, quick], live: [] } }, stop.signal);
  try {
    await until(async () => (second?.endpoint.waiting.size ?? 0) > 0, 'the slow endpoint is asked');
    for (let turn = 0; turn < 2; turn++) {
      const [txHash = ''] = await store(database.db, quick, merchant, [{ blockNumber: 95, value: '5' }]);
      await until(() => isMatched(database.db, txHash), 'the other chain is matched');
      // It is asked about many transfers first, and then about each one separately.
      await until(async () => (second?.endpoint.waiting.size ?? 0) > 0, 'the slow one is still waited for');
    }
  } finally {
    stop.abort();
    for (const endpoint of endpoints) await endpoint.stop();
    await jobs;
  }
});

test('a node that does not have a token yet leaves its payments to those that do; one that nobody knows is unmatched', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await payee(scope);
  const added = { symbol: 'USDX', address: `0x${'6f'.repeat(20)}` } as const;
  const newer: ChainConfig = { ...quick, tokens: [added] };
  const payable = { id: merchant.accountId, wallet: merchant.wallet };
  const request = await makeRequest(database.db, scope, payable, { exactMicro: 5_000_000n });
  const payment = { blockNumber: 95, value: '5000000', request };
  const [paid = ''] = await store(database.db, newer, merchant, [payment]);
  await matchPending(ctx);
  assert.equal(await isMatched(database.db, paid), false);

  await database.db.sql`update transfers set look_at = now() where tx_hash = ${paid}`;
  await matchPending({ ...ctx, chains: { test: [newer], live: [] } });
  const [row] = await database.db.sql`select request_id, reason from transfers where tx_hash = ${paid}`;
  assert.deepEqual({ ...row }, { request_id: request.id, reason: null });

  const [unknown = ''] = await store(database.db, newer, merchant, [payment]);
  await database.db.sql`update transfers set looks = 60 where tx_hash = ${unknown}`;
  await matchPending(ctx);
  const [left] = await database.db.sql`select reason from transfers where tx_hash = ${unknown}`;
  assert.equal(left?.reason, 'wrong_token');
});

test('a payment unmatched because its token was missing in CHAINS_FILE for an hour → matched once the token is back', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await payee(scope);
  const removed = { symbol: 'USDX', address: `0x${'7f'.repeat(20)}` } as const;
  const withIt: ChainConfig = { ...quick, tokens: [...quick.tokens, removed] };
  const payable = { id: merchant.accountId, wallet: merchant.wallet };
  const request = await makeRequest(database.db, scope, payable, { exactMicro: 5_000_000n });
  const payment = { blockNumber: 95, value: '5000000', request };
  const [paid = ''] = await store(database.db, { ...quick, tokens: [removed] }, merchant, [payment]);
  await database.db.sql`update transfers set looks = 60 where tx_hash = ${paid}`;
  await matchPending(ctx);
  const row = async () => {
    const [found] = await database.db.sql`select request_id, reason from transfers where tx_hash = ${paid}`;
    return { ...found };
  };
  assert.deepEqual(await row(), { request_id: null, reason: 'wrong_token' });

  await rematchKnownTokens(ctx);
  assert.deepEqual(await row(), { request_id: null, reason: 'wrong_token' }, 'it is not back yet');
  const back = { ...ctx, chains: { test: [withIt], live: [] } };
  assert.equal(await rematchKnownTokens(back), 1);
  await matchPending(back);
  assert.deepEqual(await row(), { request_id: request.id, reason: null });
  assert.equal(await rematchKnownTokens(back), 0);
});
