import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, type Scope } from '../../src/db/connection.ts';
import { openPools, type Pools } from '../../src/db/pools.ts';
import { openOne, testDatabase } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pools: Pools;
let [busy, other, third, quiet]: Scope[] = [];
before(async () => {
  database = await testDatabase();
  pools = openPools((connections, waits) => connect(database.access, connections, waits), false);
  [busy, other, third, quiet] = [await scopeOfNew(), await scopeOfNew(), await scopeOfNew(), await scopeOfNew()];
});
const scopeOfNew = async () => (await makePartner(database.db)).test;
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

test('the pages of three partners all wait for something → those of others are answered, and theirs come one after another', async () => {
  assert.ok(busy && other && third && quiet);
  const [theirs, ours] = [[busy, other, third], quiet];
  const lock = openOne(database.url);
  await lock`begin`;
  await lock`select pg_advisory_xact_lock(1)`;
  const ways = ['scoped', 'reading', 'read'] as const;
  const slow = Array.from({ length: 4 }, () =>
    theirs.flatMap((scope) =>
      ways.map((how) => pools.pages[how](scope, (tx) => tx`select pg_advisory_xact_lock_shared(1)`)),
    ),
  ).flat();
  try {
    await until(async () => (await stuck()) === 4, 'two of the first and one of each other to wait in the database');
    for (const how of ways) {
      const [row] = await pools.pages[how](ours, (tx) => tx<{ n: number }[]>`select 1 as n`);
      assert.equal(row?.n, 1);
    }
    assert.equal(await stuck(), 4);
  } finally {
    await lock`rollback`;
    await lock.end();
  }
  assert.equal((await Promise.all(slow)).length, 36);
});
