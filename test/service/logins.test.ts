import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { connect, openOwner, type Sql } from '../../src/db/connection.ts';
import { accessOf, ensureLogins, permissionsOf } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { analyzeGrown } from '../../src/db/statistics.ts';
import { testDatabase } from '../support/database.ts';
import { countingFor, makeMerchant, makePartner, makeRequest, makeTransfer, testSecrets } from '../support/fixtures.ts';

const server = process.env.TEST_DATABASE_URL ?? '';
let admin: Sql;
before(() => {
  admin = openOwner(server);
});
after(() => admin.end());

const newSecrets = () => [{ id: 'new', key: randomBytes(32) }];

/** An empty database whose owner is no superuser, as on a managed server. */
async function plainDatabase(powers = 'createrole') {
  const name = `plain_${randomBytes(6).toString('hex')}`;
  await admin.unsafe(`create role ${name} login ${powers} password 'secret'`);
  await admin.unsafe(`create database ${name} owner ${name}`);
  await admin.unsafe(`grant quittance_app, quittance_service to ${name} with admin option`); // another database made them
  const url = Object.assign(new URL(server), { username: name, password: 'secret', pathname: `/${name}` }).href;
  const owner = openOwner(url);
  return {
    ...{ name, url, owner },
    drop: async () => {
      await owner.end();
      await admin.unsafe(`drop database ${name} with (force)`);
    },
  };
}

test('an owner who is no superuser › migrates, makes the logins, and what runs as the owner does its work', async () => {
  const plain = await plainDatabase();
  await migrate(plain.owner);
  await ensureLogins(plain.owner, testSecrets);
  const db = connect(accessOf(plain.url, testSecrets), { service: 1, scoped: 1 });
  try {
    assert.deepEqual(
      (await Promise.all(db.pools.map(permissionsOf))).flatMap(({ powers }) => powers),
      [],
    );
    const { test: scope } = await makePartner(db);
    const merchant = await makeMerchant(db, scope);
    const [one, two] = [await makeRequest(db, scope, merchant), await makeRequest(db, scope, merchant)];
    assert.equal(BigInt(two.usdc_micro) - BigInt(one.usdc_micro), 1n, 'an amount that is held is seen');
    await makeTransfer(db.sql, scope, merchant, countingFor(one.id));
    const noted = await db.scoped(scope, (tx) => tx`select request_id from underpaid_requests`);
    assert.deepEqual([...noted], [{ request_id: one.id }], 'what a trigger notes as the owner');
    const [found] = await db.scoped(
      scope,
      (tx) => tx`select find_merchants('%bakery%', '{0,1}', '{0,1}', '{0,1}', null, null, 10) as id`,
    );
    assert.equal(found?.id, merchant.id);
    await analyzeGrown(db);
  } finally {
    await db.close();
    await plain.drop();
  }
});

test('an owner who may not create roles › the error says what to run', async () => {
  const plain = await plainDatabase('nocreaterole');
  try {
    await migrate(plain.owner);
    await assert.rejects(ensureLogins(plain.owner, newSecrets()), (error: Error) => {
      assert.match(error.message, new RegExp(`alter role ${plain.name} createrole`));
      return true;
    });
  } finally {
    await plain.drop();
  }
});

test('nodes and installations of one server that start at once › all make their logins', async () => {
  const databases = await Promise.all(Array.from({ length: 3 }, testDatabase));
  const secrets = newSecrets();
  try {
    const starts = databases
      .flatMap(({ url }) => [url, url, url])
      .map(async (url) => {
        const owner = openOwner(url);
        await ensureLogins(owner, secrets).finally(() => owner.end());
        const db = connect(accessOf(url, secrets), { service: 1, scoped: 1 });
        await Promise.all(db.pools.map((sql) => sql`select 1`)).finally(() => db.close());
      });
    await Promise.all(starts);
  } finally {
    for (const { drop } of databases) await drop();
  }
});

test('a new secret in front › has its own logins, and those of the earlier one still work', async () => {
  const database = await testDatabase();
  const secrets = newSecrets();
  const { test: scope } = await makePartner(database.db);
  await ensureLogins(database.owner, [...secrets, ...testSecrets]);
  const newer = connect(accessOf(database.url, secrets), { service: 1, scoped: 1 });
  try {
    for (const db of [newer, database.db]) {
      const rows = await db.scoped(scope, (tx) => tx`select id from partners`);
      assert.deepEqual([...rows], [{ id: scope.partnerId }]);
    }
  } finally {
    await newer.close();
    await database.drop();
  }
});
