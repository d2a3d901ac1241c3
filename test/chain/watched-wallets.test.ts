import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { watchedWallets } from '../../src/chain/reader/wallets.ts';
import type { Sql, Tx } from '../../src/db/connection.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, randomAddress } from '../support/fixtures.ts';

let database: TestDatabase;
let watch: (sql: Sql | Tx, wallet: string) => Promise<unknown>;
before(async () => {
  database = await testDatabase();
  const { test: scope } = await makePartner(database.db);
  const { id } = await makeMerchant(database.db, scope);
  watch = (sql, wallet) => sql`
    insert into watched_wallets values (${wallet}, ${scope.partnerId}, true, ${id}, now() + interval '1 day',
      clock_timestamp())`;
});
after(() => database?.drop());

test('a wallet whose transaction commits long after later ones → known after the next refresh', async () => {
  const wallets = watchedWallets(database.db, true, 0);
  const [late, early] = [randomAddress(), randomAddress()];
  await wallets.refresh();
  await database.owner.begin(async (tx) => {
    await watch(tx, late);
    await watch(database.db.sql, early);
    await wallets.refresh();
    await wallets.refresh();
    assert.deepEqual([wallets.owners.has(early), wallets.owners.has(late)], [true, false]);
  });
  await wallets.refresh();
  assert.ok(wallets.owners.has(late));
});
