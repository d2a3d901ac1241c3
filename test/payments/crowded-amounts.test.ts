import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { matchPending } from '../../src/payments/match.ts';
import { findReservations } from '../../src/requests/reservations.ts';
import { idleChain, testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase, withoutLimits } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { readUpTo, store } from '../support/payments/table-chain.ts';

const chain = idleChain(31337);
/** As many of one price as a wallet can have, less the first. */
const others = 9_998;
const price = '5000000';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  await readUpTo(database.db, chain.chainId, 100);
});
after(() => database?.drop());

test('a wallet with ten thousand requests of one price, paid that figure → ambiguous, by a few of them', async () => {
  const { db, owner } = database;
  const { test: scope } = await makePartner(db);
  const { id: accountId, wallet } = await makeMerchant(db, scope);
  const first = await makeRequest(db, scope, { id: accountId, wallet }, { exactMicro: BigInt(price) });
  await withoutLimits(owner, async (tx) => {
    await tx`
      insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
        payment_mode, metadata, wallet_address, reference, start_blocks, created_at, expires_at, status, proof_status)
      select partner_id, test_mode, gen_random_uuid(), account_id, fiat_int, fiat_code, usdc_micro + n, reserved, rate,
        payment_mode, metadata, wallet_address, uuid_send(gen_random_uuid()), start_blocks,
        created_at + n * interval '1 ms', expires_at, status, proof_status
      from requests, generate_series(1, ${others}::int) n`;
    await tx`
      insert into amount_reservations
      select wallet_address, usdc_micro, partner_id, test_mode, id, now(), now() + interval '1 day' from requests
      where id <> ${first.id}`;
  });
  await owner`update amount_reservations set reserved_at = now() - interval '1 minute'`;

  const paid = {
    ...{ partner_id: scope.partnerId, test_mode: true, wallet_address: wallet, chain_id: chain.chainId },
    ...{ paid_micro: price, paid_at: new Date(), around_micro: '10000' },
  };
  const found = await db.transaction((tx) => findReservations(tx, [paid, paid]));
  const ofEach = [0, 1].map((place) => found.filter((row) => row.place === place));
  for (const own of ofEach) {
    assert.equal(own.filter(({ request_id }) => request_id === first.id).length, 1);
    assert.ok(own.length > 1 && own.length < 100);
  }
  await store(db, chain, { scope, wallet, accountId }, [{ blockNumber: 90, value: price }]);
  assert.equal(await matchPending(testContext(db, { chains: { test: [chain], live: [] } })), 1);
  const [row] = await db.sql`select reason from transfers`;
  assert.equal(row?.reason, 'ambiguous');
});
