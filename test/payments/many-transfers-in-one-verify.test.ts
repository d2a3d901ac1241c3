import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { crossCheck, emptyCrossCheck } from '../../src/payments/proof/cross-check.ts';
import type { TransferRow } from '../../src/payments/transfers.ts';
import { idleChain } from '../support/app.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner } from '../support/fixtures.ts';
import { readUpTo, store, tableEndpoint } from '../support/payments/table-chain.ts';

let database: TestDatabase;
let endpoint: Awaited<ReturnType<typeof tableEndpoint>>;
before(async () => {
  database = await testDatabase();
  endpoint = await tableEndpoint(database.db);
});
after(async () => {
  await endpoint?.stop();
  await database?.drop();
});

const count = 200;

/** A transaction that made many transfers, as the watcher has stored them. */
async function storeMany(): Promise<TransferRow[]> {
  const { db } = database;
  const { test: scope } = await makePartner(db);
  const { id: accountId, wallet } = await makeMerchant(db, scope);
  await readUpTo(db, 31337, 100);
  const to = { scope, wallet, accountId };
  const [txHash = ''] = await store(db, idleChain(31337), to, [{ blockNumber: 50, value: '1' }]);
  await db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id)
    select chain_id, tx_hash, n, block_number, block_hash, block_time, token_address, from_address, to_address, value,
      partner_id, test_mode, account_id
    from transfers, generate_series(1, ${count - 1}::int) n where tx_hash = ${txHash}`;
  return db.sql<TransferRow[]>`select * from transfers where tx_hash = ${txHash} order by ordinal`;
}

test('many transfers of one transaction are checked → other work has its turns', async () => {
  const rows = await storeMany();
  const chain = { ...idleChain(31337), rpcUrls: [endpoint.url, endpoint.url] };
  let turns = 0;
  let turn = setImmediate(function next() {
    turns++;
    turn = setImmediate(next);
  });
  const checks = emptyCrossCheck();
  const checkedIn = new Set<number>();
  const add = checks.agreed.add.bind(checks.agreed);
  checks.agreed.add = (row) => {
    checkedIn.add(turns);
    return add(row);
  };
  await crossCheck(chain, rows, 60_000, checks);
  clearImmediate(turn);
  assert.equal(checks.agreed.size, count);
  assert.ok(checkedIn.size >= count / 8, `${count} were checked in ${checkedIn.size} turns`);
});

test('they are checked by endpoints that refuse batches → each is asked for the transaction once', async () => {
  const rows = await storeMany();
  const provider = await fakeProvider(endpoint.url);
  provider.fake.batch = () => ({ error: { code: -32600, message: 'no batches' } });
  try {
    const chain = { ...idleChain(31337), rpcUrls: [provider.url, provider.url] };
    const checks = emptyCrossCheck();
    // Whether this endpoint takes batches is known from the first time on.
    await crossCheck(chain, rows.slice(0, 1), 60_000, emptyCrossCheck());
    provider.fake.calls.clear();
    await crossCheck(chain, rows, 60_000, checks);
    assert.equal(checks.agreed.size, count);
    assert.equal(provider.fake.calls.get('eth_getTransactionReceipt'), 2);
    assert.equal(provider.fake.calls.get('eth_getTransactionByHash'), 2);
  } finally {
    await provider.stop();
  }
});
