import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openOwner, type Sql } from '../../src/db/connection.ts';
import { openService } from '../../src/service.ts';
import { testConfig } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

const server = process.env.TEST_DATABASE_URL ?? '';
const names: string[] = [];
let admin: Sql;
before(() => {
  admin = openOwner(server);
});
after(async () => {
  for (const name of names) await admin.unsafe(`drop database ${name} with (force)`);
  await admin.end();
});

async function newDatabase(options = ''): Promise<string> {
  const name = `unsuited_${randomBytes(6).toString('hex')}`;
  await admin.unsafe(`create database ${name} ${options}`);
  names.push(name);
  return name;
}

const urlOf = (name: string) => Object.assign(new URL(server), { pathname: `/${name}` }).href;
const start = (name: string, ownerName: string | null = null) =>
  openService(
    testConfig({
      databaseUrl: urlOf(name),
      databaseOwnerUrl: ownerName && urlOf(ownerName),
      chains: { test: [], live: [] },
    }),
  );

test('a database in which texts are only bytes, or lack characters → refused before anything is written, with the way out', async () => {
  for (const encoding of ['SQL_ASCII', 'LATIN1']) {
    const name = await newDatabase(`encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`);
    await assert.rejects(start(name), (error: Error) => {
      assert.match(error.message, new RegExp(`^The database ${name} has the encoding ${encoding}\\. Create it again`));
      assert.match(error.message, /encoding 'UTF8' template template0/);
      return true;
    });
    const owner = openOwner(urlOf(name));
    assert.equal((await owner`select to_regclass('schema_migrations') as made`)[0]?.made, null);
    await owner.end();
  }
});

test('a database with settings of its own for names and texts → they do not count', async () => {
  const name = await newDatabase();
  await admin.unsafe(`alter database ${name} set search_path = nowhere, pg_catalog`);
  await admin.unsafe(`alter database ${name} set standard_conforming_strings = off`);
  const service = await start(name);
  try {
    const { db } = service.ctx;
    const { test: scope } = await makePartner(db);
    const request = await makeRequest(db, scope, await makeMerchant(db, scope));
    assert.ok(request.id);
  } finally {
    await service.close();
  }
});

test('a database that ends idle sessions → it ends none of ours', async () => {
  const name = await newDatabase();
  await admin.unsafe(`alter database ${name} set idle_session_timeout = '1s'`);
  const service = await start(name);
  try {
    const { db } = service.ctx;
    const { test: scope } = await makePartner(db);
    const [ofService] = await db.sql`show idle_session_timeout`;
    const [ofScope] = await db.scoped(scope, (tx) => tx`show idle_session_timeout`);
    assert.deepEqual([ofService, ofScope], [{ idle_session_timeout: '0' }, { idle_session_timeout: '0' }]);
  } finally {
    await service.close();
  }
});

test('DATABASE_OWNER_URL of another database → refused', async () => {
  const [one, other] = [await newDatabase(), await newDatabase()];
  await (await start(one)).close();
  await assert.rejects(start(one, other), /DATABASE_OWNER_URL and DATABASE_URL lead to two databases/);
  await (await start(one, one)).close();
});
