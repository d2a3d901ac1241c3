import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sqlState } from '../../src/db/connection.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let id: string;

before(async () => {
  database = await testDatabase();
  const { test: scope } = await makePartner(database.db);
  id = (await makeRequest(database.db, scope, await makeMerchant(database.db, scope))).id;
});
after(() => database?.drop());

const paidAs = (at: string, hash: string, payer: string) =>
  `proof_status = 'verified', proof_verified_at = ${at}, tx_hash = ${hash}, payer_address = ${payer}`;
const refused = [
  "status = 'paid'",
  "proof_status = 'final'",
  "proof_status = 'verified'",
  'proof_verified_at = now()',
  paidAs('null', "'0x1'", "'0x2'"),
  paidAs('now()', 'null', "'0x2'"),
  paidAs('now()', "'0x1'", 'null'),
  "status = 'voided'",
  'fiat_int = 0',
  'fiat_int = 2147483648',
  'usdc_micro = 0',
  "payment_mode = 'card'",
  "reference = '\\x00'",
];
const accepted = [
  paidAs('now()', "'0x1'", "'0x2'"),
  "status = 'voided', voided_at = now()",
  'fiat_int = 2147483647',
  "payment_mode = 'invoice'",
];

const change = (what: string) =>
  database.db.sql.unsafe(`update requests set ${what} where id = '${id}'`).then(() => null, sqlState);

for (const what of refused) {
  test(`a request with ${what} → the database refuses it`, async () => {
    assert.equal(await change(what), '23514');
  });
}

test('every legal change of a request → accepted by the database’s checks', async () => {
  for (const what of accepted) assert.equal(await change(what), null, what);
});
