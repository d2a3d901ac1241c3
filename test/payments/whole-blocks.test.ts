import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { readUpTo, store, tableEndpoint } from '../support/payments/table-chain.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let endpoints: Awaited<ReturnType<typeof tableEndpoint>>[] = [];
let pair: ChainConfig;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  endpoints = [await tableEndpoint(database.db), await tableEndpoint(database.db)];
  pair = { ...idleChain(31339), rpcUrls: endpoints.map(({ url }) => url) };
  ctx = testContext(database.db, { chains: { test: [pair], live: [] } });
  await readUpTo(database.db, pair.chainId, 1000);
});
after(async () => {
  for (const { stop } of endpoints) await stop();
  await database?.drop();
});

/** More blocks than one pass can wait for, each with so many payments that it is requested as a whole. */
const [blocks, inEach] = [12, 5];
const hashOf = (blockNumber: number) => `0x${blockNumber.toString(16).padStart(64, '0')}`;

test('an endpoint that never answers about whole blocks, many payments in each of many blocks → they are verified', async () => {
  const { test: scope } = await makePartner(database.db);
  const { id, wallet } = await makeMerchant(database.db, scope);
  for (let i = 0; i < blocks * inEach; i++) {
    const blockNumber = 100 + Math.floor(i / inEach);
    const request = await makeRequest(database.db, scope, { id, wallet });
    const to = { scope, wallet, accountId: id };
    await store(database.db, pair, to, [{ blockNumber, value: request.usdc_micro, request }], true);
    await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
    endpoints[1]?.endpoint.lies.set(hashOf(blockNumber), 'silent');
  }
  const left = async () => (await database.db.sql`select from requests where proof_status <> 'verified'`).length;
  // A slow machine gets to fewer blocks in a pass, but to more than one.
  for (let passes = 0; passes < blocks - 2 && (await left()) > 0; passes++) await verifyFinal(ctx);
  assert.equal(await left(), 0);
});

test('endpoints that tell of no logs in the receipts of whole blocks, but do in each by itself → verified at once', async () => {
  const { test: scope } = await makePartner(database.db);
  const { id, wallet } = await makeMerchant(database.db, scope);
  const blockNumber = 500;
  const hashes: string[] = [];
  for (let i = 0; i < inEach; i++) {
    const request = await makeRequest(database.db, scope, { id, wallet });
    const to = { scope, wallet, accountId: id };
    const [hash = ''] = await store(database.db, pair, to, [{ blockNumber, value: request.usdc_micro, request }], true);
    hashes.push(hash);
    await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  }
  const place = {
    blockHash: hashOf(blockNumber),
    blockNumber: `0x${blockNumber.toString(16)}`,
    status: '0x1',
    logs: [],
  };
  const result = hashes.map((transactionHash) => ({ ...place, transactionHash }));
  for (const { endpoint } of endpoints) endpoint.lies.set(hashOf(blockNumber), { result });
  assert.equal(await verifyFinal(ctx), inEach);
});
