import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isArriving } from '../../src/payments/arriving.ts';
import { authorizationNonce } from '../../src/requests/authorization-nonce.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type TestDatabase, testDatabase, withoutLimits } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, makeTransfer } from '../support/fixtures.ts';
import { openExplainer, rowsRead, sentDuring } from '../support/query-plans.ts';

// Before charges are made and sent, the payments of their requests are looked for, of all partners at once.

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

test('5,000 transfers to a wallet that are not matched yet → none of them is read to find a request’s payment', async () => {
  const { db, owner } = database;
  const { test: scope } = await makePartner(db);
  const merchant = await makeMerchant(db, scope);
  const requests: RequestRow[] = [];
  for (let made = 0; made < 10; made++) requests.push(await makeRequest(db, scope, merchant));
  await withoutLimits(
    owner,
    (tx) => tx`
      insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address,
        from_address, to_address, value, partner_id, test_mode, account_id, calldata_reference)
      select 31337, '0x' || encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 0, 7, '0x', now(), '0xtoken', '0xpayer',
        ${merchant.wallet}, 1, ${scope.partnerId}, true, ${merchant.id}, ${Buffer.alloc(16, 1)} from generate_series(1, 5000)`,
  );
  await withoutLimits(owner, (tx) => tx`analyze transfers, requests`);
  const ids = requests.map(({ id }) => id);
  const find = () =>
    db.sql<{ id: string }[]>`select r.id from requests r where r.id = any(${ids}::uuid[]) and ${isArriving(db.sql)}`;
  const explainer = openExplainer(database.url);
  try {
    const plans = await explainer.explain(await sentDuring(db, find), 'force_generic_plan');
    const rows = plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
    assert.ok(rows < 500, `${rows} rows`);
  } finally {
    await explainer.end();
  }

  const request = (nth: number) => requests[nth] as RequestRow;
  const referenceOf = (nth: number) => request(nth).reference as Buffer;
  const { partnerId } = scope;
  const { wallet } = merchant;
  const pays = (columns: object) => makeTransfer(db.sql, scope, merchant, columns);
  await pays({ value: request(0).usdc_micro });
  await pays({ calldata_reference: referenceOf(1) });
  await pays({ charged_reference: referenceOf(2) });
  await pays({ authorization_nonce: authorizationNonce(referenceOf(3), 2 ** 32 - 1) });
  await db.sql`insert into amount_reservations values (${wallet}, 77, ${partnerId}, true, null, now(), now())`;
  await db.sql`insert into reserved_rests values (${partnerId}, true, ${request(4).id}, 70, ${wallet}, 77, '{}')`;
  await pays({ value: '77' });
  const nonce = Buffer.alloc(32, 9);
  await db.sql`
    insert into authorizations (chain_id, token_address, authorizer, nonce, partner_id, test_mode, request_id, value,
      valid_before) values (31337, '0xtoken', '0xada', ${nonce}, ${partnerId}, true, ${request(5).id}, 5, now())`;
  await pays({ token_address: '0xtoken', from_address: '0xada', authorization_nonce: nonce });
  const txHash = await pays({});
  await db.sql`
    insert into kept_bindings values (31337, ${txHash}, 0, ${partnerId}, true, ${request(6).id}, 'claim', '0xtoken', '0xada',
      ${wallet}, 5)`;
  await pays({ value: request(7).usdc_micro, judged_at: new Date() });
  await pays({ to_address: '0xelsewhere', calldata_reference: referenceOf(8) });
  const expected = requests.slice(0, 7).map(({ id }) => id);
  assert.deepEqual((await find()).map(({ id }) => id).sort(), expected.sort());
});
