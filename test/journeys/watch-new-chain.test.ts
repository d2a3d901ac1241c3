import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWatching } from '../../src/chain/reader/watcher.ts';
import { matchPending } from '../../src/payments/match.ts';
import { undoRemoved } from '../../src/payments/undo-removed.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { testContext } from '../support/app.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let node: TestChain;
before(async () => {
  [database, node] = await Promise.all([testDatabase(), testChain()]);
});
after(async () => {
  await node?.stop();
  await database?.drop();
});

test('a chain is new, and its endpoint does not answer at first → what was paid meanwhile is found', async () => {
  const { db } = database;
  const provider = await fakeProvider(node.chain.rpcUrls[0] ?? '');
  provider.fake.lie = async () => 'hang up';
  const chain = { ...node.chain, rpcUrls: [provider.url] };
  const ctx = testContext(db, { chains: { test: [chain], live: [] } });
  const stop = new AbortController();
  const watching = startWatching(ctx, { onRemoved: undoRemoved }, stop.signal, null);
  try {
    const { test: scope } = await makePartner(db);
    await until(async () => (await db.sql`select from leases`).length > 0, 'the watcher tries to read');
    await db.sql`update leases set wanted_at = now() - interval '1 minute'`;
    const request = await makeRequest(db, scope, await makeMerchant(db, scope));
    await node.pay({
      ...{ from: node.wallet(), to: request.wallet_address },
      ...{ usdcMicro: BigInt(request.usdc_micro), reference: request.reference },
    });
    await node.mine(3);
    const head = await headNumber(node.chain);
    provider.fake.lie = async () => null;
    await until(
      async () => (await db.sql`select from chain_cursors where number = ${head}`).length > 0,
      'the chain to be read',
    );
    await matchPending(ctx);
    const [row] = await db.sql`select proof_status from requests where id = ${request.id}`;
    assert.equal(row?.proof_status, 'verified');
  } finally {
    stop.abort();
    await watching;
    await provider.stop();
  }
});
