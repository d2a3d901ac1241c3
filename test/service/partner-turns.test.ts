import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, type Scope } from '../../src/db/connection.ts';
import { openPools, type Pools } from '../../src/db/pools.ts';
import { openOne, testDatabase } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { until } from '../support/net/receiver.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pools: Pools;
let [busy, quiet]: Scope[] = [];
before(async () => {
  database = await testDatabase();
  pools = openPools((most) => connect(database.access, most));
  [busy, quiet] = [(await makePartner(database.db)).test, (await makePartner(database.db)).test];
});
after(async () => {
  await pools?.close();
  await database?.drop();
});

const stuck = async () => {
  const [row] = await database.db.sql<{ n: number }[]>`
    select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
  return row?.n ?? 0;
};

test('a partner’s pages all wait for something → those of others are answered, and its own come one after another', async () => {
  assert.ok(busy && quiet);
  const [theirs, ours] = [busy, quiet];
  const lock = openOne(database.url);
  await lock`begin`;
  await lock`select pg_advisory_xact_lock(1)`;
  const ways = ['scoped', 'reading', 'read'] as const;
  const slow = Array.from({ length: 4 }, () =>
    ways.map((how) => pools.pages[how](theirs, (tx) => tx`select pg_advisory_xact_lock_shared(1)`)),
  ).flat();
  try {
    await until(async () => (await stuck()) === 3, 'three of theirs to wait in the database');
    for (const how of ways) {
      const [row] = await pools.pages[how](ours, (tx) => tx<{ n: number }[]>`select 1 as n`);
      assert.equal(row?.n, 1);
    }
    assert.equal(await stuck(), 3);
  } finally {
    await lock`rollback`;
    await lock.end();
  }
  assert.equal((await Promise.all(slow)).length, 12);
});
