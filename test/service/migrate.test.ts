import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openOwner, type Sql } from '../../src/db/connection.ts';
import { compareMigrations, migrate, migrationLock } from '../../src/db/migrate.ts';
import { identifiers } from '../../src/db/sql.ts';
import { StartFault } from '../../src/lib/start-fault.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let folder: string;
const opened: Sql[] = [];
const names: string[] = [];
before(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'quittance-migrations-'));
});
after(async () => {
  for (const owner of opened) await owner.end();
  for (const name of names) await database.owner`drop database ${identifiers(name)} with (force)`;
  rmSync(folder, { recursive: true });
  await database.drop();
});

/** Owners of a new, empty database. */
async function emptyDatabase(owners = 1): Promise<Sql[]> {
  const name = `empty_${process.pid}_${names.length}`;
  await database.owner`create database ${identifiers(name)}`;
  names.push(name);
  const url = Object.assign(new URL(database.url), { pathname: `/${name}` });
  const made = Array.from({ length: owners }, () => openOwner(url.href));
  opened.push(...made);
  return made;
}

function version(...files: [name: string, text: string][]): string {
  const own = mkdtempSync(join(folder, 'version-'));
  for (const [name, text] of files) writeFileSync(join(own, name), text);
  return own;
}

const first: [string, string] = ['0001_first.sql', 'create table things (id int primary key);'];

test('three nodes that start at once on an empty database → one migrates it, and none fails', async () => {
  const owners = await emptyDatabase(3);
  const ran = await Promise.all(owners.map((owner) => migrate(owner)));
  assert.deepEqual(await compareMigrations(owners[0] as Sql), { pending: [], ahead: [] });
  const applied = ran.flat();
  assert.equal(new Set(applied).size, applied.length, 'no migration ran twice');
});

test('a start that migrates, or waits for another node that does → says so, and the next one says nothing', async () => {
  const [owner, other] = (await emptyDatabase(2)) as [Sql, Sql];
  const told: string[] = [];
  const log = { info: (...words: unknown[]) => void told.push(String(words.at(-1))) };
  const how = { folder: version(first), log };
  await other`select pg_advisory_lock(${migrationLock})`;
  const migrating = migrate(owner, how);
  await until(() => told.length > 0, 'the line about the wait');
  await other`select pg_advisory_unlock(${migrationLock})`;
  await migrating;
  const lines = ['waiting for another node, which prepares the database', 'migrating the database'];
  assert.deepEqual(told, [...lines, 'the database is migrated']);
  await migrate(other, how);
  assert.equal(told.length, 3);
});

test('a newer version has added to the schema → this one starts; it has removed from it → this one refuses', async () => {
  const [owner] = (await emptyDatabase()) as [Sql];
  const old = version(first);
  await migrate(owner, { folder: old });
  const added: [string, string] = ['0002_more.sql', 'alter table things add column name text;'];
  await migrate(owner, { folder: version(first, added) });
  assert.deepEqual(await migrate(owner, { folder: old }), []);
  const removed: [string, string] = ['0003_contract_names.sql', 'alter table things drop column name;'];
  await migrate(owner, { folder: version(first, added, removed) });
  assert.deepEqual((await compareMigrations(owner, old)).ahead, ['0003_contract_names.sql']);
  await assert.rejects(migrate(owner, { folder: old }), (error) => {
    assert.ok(error instanceof StartFault);
    assert.match(
      error.message,
      /^The database was migrated by a newer version, .*0003_contract_names.*Start the newer/,
    );
    return true;
  });
});

test('a table that a long transaction holds → the migration steps back, lets others at the table, and comes again', async () => {
  const [owner, other, third] = (await emptyDatabase(3)) as [Sql, Sql, Sql];
  await migrate(owner, { folder: version(first) });
  const added: [string, string] = ['0002_more.sql', 'alter table things add column name text;'];
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = other.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`lock table things in access share mode`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  const migrating = migrate(owner, { folder: version(first, added) });
  const waits = async () =>
    (
      await third`select from pg_locks where relation = 'things'::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`
    ).length > 0;
  await until(waits, 'the migration to wait for the table');
  // It would wait behind the migration for as long as the holder likes.
  assert.equal((await third`select id from things`).length, 0);
  released.resolve();
  await holding;
  assert.deepEqual(await migrating, ['0002_more.sql']);
});

test('a table that is held for longer than a migration waits → the start fails, says why, and completes it later', async () => {
  const [owner, other] = (await emptyDatabase(2)) as [Sql, Sql];
  const added: [string, string] = ['0002_more.sql', 'alter table things add column name text;'];
  await migrate(owner, { folder: version(first) });
  await other.begin(async (tx) => {
    await tx`lock table things in access share mode`;
    await assert.rejects(migrate(owner, { folder: version(first, added), attempts: 1 }), (error) => {
      assert.ok(error instanceof StartFault);
      assert.match(error.message, /0002_more\.sql needs a table that something else has held .* such as a backup/);
      return true;
    });
  });
  assert.deepEqual(await migrate(owner, { folder: version(first, added) }), ['0002_more.sql']);
});

test('a migration without a transaction that failed half-way → its finished statements stay, and the next start completes it', async () => {
  const [owner] = (await emptyDatabase()) as [Sql];
  const index = 'create index concurrently if not exists things_by_id on things (id);';
  const name = '0002_index.sql';
  const broken = version(first, [name, `-- Without a transaction.\n${index}\nselect from nowhere;\n`]);
  await assert.rejects(migrate(owner, { folder: broken }), /nowhere/);
  assert.deepEqual((await compareMigrations(owner, broken)).pending, [name]);
  const mended = version(first, [name, `-- Without a transaction.\n${index}\n`]);
  assert.deepEqual(await migrate(owner, { folder: mended }), [name]);
  assert.equal(
    (await owner`select from pg_index where indexrelid = 'things_by_id'::regclass and indisvalid`).length,
    1,
  );
});
