import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { insertion } from '../../src/db/sql.ts';
import { undoRemoved } from '../../src/payments/undo-removed.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { countingFor, makeMerchant, makePartner, makeRequest, makeTransfer, randomHash } from '../support/fixtures.ts';

let database: TestDatabase;
let scope: Scope;
before(async () => {
  database = await testDatabase();
  scope = (await makePartner(database.db)).test;
});
after(() => database?.drop());

const many = 1_000;

test('A payment with very many second ones is reorganised away → only the largest are matched again', async () => {
  const { db } = database;
  const merchant = await makeMerchant(db, scope);
  const request = await makeRequest(db, scope, merchant);
  const txHash = await makeTransfer(db.sql, scope, merchant, { value: request.usdc_micro, ...countingFor(request.id) });
  await db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  const [first] = await db.sql`select * from transfers where tx_hash = ${txHash}`;
  const seconds = Array.from({ length: many }, (_, n) => ({
    ...{
      chain_id: 31337,
      tx_hash: randomHash(),
      ordinal: 0,
      block_number: 2,
      block_hash: '0x',
      block_time: new Date(),
    },
    ...{ token_address: first?.token_address, from_address: first?.from_address, to_address: merchant.wallet },
    ...{ value: String(n + 1), partner_id: scope.partnerId, test_mode: true, account_id: merchant.id },
    ...{ reason: 'already_paid', candidate_request_id: request.id, judged_at: new Date() },
  }));
  await db.sql`insert into transfers ${insertion(seconds)}`;
  await db.transaction(async (tx) => {
    await tx`delete from transfers where tx_hash = ${txHash}`;
    const { partnerId, testMode } = scope;
    const of = { partnerId, testMode, requestId: request.id, rule: 'reference' };
    const payment = {
      tokenAddress: first?.token_address,
      fromAddress: first?.from_address,
      toAddress: merchant.wallet,
    };
    await undoRemoved(tx, [{ chainId: 31337, txHash, ordinal: 0, ...of, ...payment, value: BigInt(first?.value) }]);
  });
  const [row] = await db.sql`
    select count(*)::int as count, min(value)::int as smallest, max(value)::int as largest from transfers
    where account_id = ${merchant.id} and judged_at is null`;
  assert.deepEqual({ ...row }, { count: 100, smallest: many - 99, largest: many });
});
