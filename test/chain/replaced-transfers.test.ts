import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FoundTransfer, insertTransfers } from '../../src/chain/reader/store.ts';
import type { Scope } from '../../src/db/connection.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import {
  countingFor,
  makeMerchant,
  makePartner,
  makeRequest,
  makeTransfer,
  randomHash,
  unmatched,
} from '../support/fixtures.ts';

let database: TestDatabase;
let scope: Scope;
let merchant: Awaited<ReturnType<typeof makeMerchant>>;
before(async () => {
  database = await testDatabase();
  ({ test: scope } = await makePartner(database.db));
  merchant = await makeMerchant(database.db, scope);
});
after(() => database?.drop());

const chain = { chainId: 31337, testMode: true };

async function stored(txHash: string) {
  const [row] = await database.db.sql`select * from transfers where tx_hash = ${txHash}`;
  return row;
}

/** Stores what a transaction moves in the block in which it is now: with a `change`, other money than before. */
async function readAgain(txHash: string, change: Partial<FoundTransfer> = {}): Promise<FoundTransfer> {
  const row = await stored(txHash);
  assert.ok(row);
  const block = {
    ...{ number: 7, hash: randomHash(), parentHash: randomHash(), time: new Date() },
    ...{ logsBloom: '0x', transactionCount: 1 },
  };
  const found: FoundTransfer = {
    ...{ txHash, ordinal: 0, logIndex: 0, block, partnerId: scope.partnerId, accountId: merchant.id },
    ...{ tokenAddress: row.token_address, fromAddress: row.from_address, toAddress: row.to_address },
    ...{ value: BigInt(row.value), calldataRead: true, calldataReference: null, logsRead: true, feeWei: null },
    ...{ authorizationNonce: null, chargedReference: null },
    ...change,
  };
  await database.db.transaction((tx) => insertTransfers(tx, chain, [found]));
  return found;
}

const isTold = async (txHash: string) => (await raisedAlarms(database.db.sql)).has(`chain-replaced:31337:${txHash}`);

test('the same money in another block → the row moves there and keeps its request', async () => {
  const request = await makeRequest(database.db, scope, merchant);
  const txHash = await makeTransfer(database.db.sql, scope, merchant, {
    ...countingFor(request.id),
    final_at: new Date(),
  });
  const { block } = await readAgain(txHash);
  const row = await stored(txHash);
  assert.deepEqual([row?.block_hash, row?.request_id], [block.hash, request.id]);
  assert.equal(await isTold(txHash), false);
});

test('other money where an unmatched payment was read → it was invented, and is replaced', async () => {
  const txHash = await makeTransfer(database.db.sql, scope, merchant, unmatched('no_match'));
  await readAgain(txHash, { value: 6n });
  const row = await stored(txHash);
  assert.deepEqual([row?.value, row?.judged_at], ['6', null]);
  assert.equal(await isTold(txHash), false);
});

test('other money where a payment is refunded or applied to a request → it stays, with an alarm if it was final', async () => {
  for (const final_at of [null, new Date()]) {
    const request = await makeRequest(database.db, scope, merchant);
    const applied = await makeTransfer(database.db.sql, scope, merchant, { ...countingFor(request.id), final_at });
    const refunded = await makeTransfer(database.db.sql, scope, merchant, { ...unmatched('released'), final_at });
    await database.db.sql`
      insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, token_address, from_address,
        to_address, usdc_micro, noted_at, state)
      select partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, token_address, to_address,
        from_address, value, now(), 'returning'
      from transfers where tx_hash = ${refunded}`;
    for (const txHash of [applied, refunded]) {
      const before = await stored(txHash);
      await readAgain(txHash, { value: 6n });
      assert.deepEqual(await stored(txHash), before);
      assert.equal(await isTold(txHash), final_at !== null);
    }
  }
});
