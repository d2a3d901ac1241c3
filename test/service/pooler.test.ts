import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { doctorCommands } from '../../src/cli/doctor.ts';
import { listenForChanges } from '../../src/db/changes.ts';
import { connect, type Database, sqlState, usualWaits } from '../../src/db/connection.ts';
import { accessOf, ensureLogins } from '../../src/db/logins.ts';
import { checkSessions, refuseSharedOwner, sharedSessions, sharesSessions } from '../../src/db/pooler.ts';
import { loginDefaults } from '../../src/db/session-settings.ts';
import { isWritable } from '../../src/db/writable.ts';
import { buildMetricsServer } from '../../src/http/health.ts';
import { joinService } from '../../src/service.ts';
import { send } from '../support/api/client.ts';
import { testConfig, testContext } from '../support/app.ts';
import { openOne, type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, secretsText, testSecrets } from '../support/fixtures.ts';
import { type Pooler, startPooler } from '../support/net/pgbouncer.ts';
import { dataFolder, endAll, runService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('behind pgbouncer in transaction mode', () => {
  let database: TestDatabase;
  let pooler: Pooler;
  before(async () => {
    database = await testDatabase();
    await ensureLogins(database.owner, testSecrets, true);
    pooler = await startPooler(database.owner, database.url);
  });
  after(async () => {
    await endAll();
    await pooler?.stop();
    await database?.drop();
  });

  test('sessions › seen to be shared through the pooler, and our own at the server', async () => {
    assert.equal(await sharesSessions(accessOf(pooler.url, testSecrets).service), true);
    assert.equal(await sharesSessions(database.access.service), false);
  });

  test('statements and scopes of many connections at once → each its own answer, with the settings of the service', async () => {
    const access = accessOf(pooler.url, testSecrets, database.url);
    // Hundreds wait for thirty connections: on a busy machine longer than the service would.
    const db = connect(access, { service: 30, scoped: 30 }, { queue: 120, connect: 60, answer: 300 });
    await checkSessions(access, db.sql);
    const { test: scope } = await makePartner(db);
    const { test: other } = await makePartner(db);
    const merchant = await makeMerchant(db, scope);
    const request = await makeRequest(db, scope, merchant);
    const names = Object.keys(loginDefaults.service).filter((name) => name !== 'application_name');
    const wanted = names.map((name) => `${name}=${loginDefaults.service[name as 'jit']}`).sort();
    await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const of = index % 2 ? scope : other;
        const rows = await db.scoped(of, async (tx) => {
          const found = await tx`select id from requests`;
          const settings = await tx`
            select lower(name) || '=' || setting as text from pg_settings where lower(name) = any(${names}::text[])`;
          assert.deepEqual(settings.map(({ text }) => text).sort(), wanted);
          return found;
        });
        assert.deepEqual(
          rows.map(({ id }) => id),
          of === scope ? [request.id] : [],
        );
        assert.deepEqual(
          (
            await db.read(of, (sql) => sql`select id, current_setting('statement_timeout') as timeout from requests`)
          ).map((row) => ({ ...row })),
          of === scope ? [{ id: request.id, timeout: '30s' }] : [],
        );
        const [row] = await db.sql`select ${index}::int as echo, current_setting('timezone') as zone`;
        assert.deepEqual({ ...row }, { echo: index, zone: 'UTC' });
      }),
    );
    const sessions = await database.owner`
      select from pg_stat_activity where datname = current_database() and usename like 'quittance\\_s%'`;
    assert.ok(sessions.length <= 41, `${sessions.length} sessions of the server`);
    await db.close();
  });

  test('a read of one statement → in a transaction that is begun and committed, since its session is shared in between', async () => {
    const db = connect(accessOf(pooler.url, testSecrets, database.url), { service: 1, scoped: 1 });
    const { test: scope } = await makePartner(db);
    const sent: string[] = [];
    for (let time = 0; time < 3; time++) {
      for (const pool of db.pools) pool.observer = (_session, { text, name }) => sent.push(`${name ?? ''}${text}`);
      await db.read(scope, (sql) => sql`select id from requests`);
    }
    for (let at = 0; at < sent.length; at += 4) {
      assert.match(sent[at] ?? '', /^begin isolation level read committed, read write; select public.begin_scoped\(\)/);
      assert.match(sent[at + 1] ?? '', /^select enter_scope\(/);
      assert.deepEqual(sent.slice(at + 2, at + 4), ['select id from requests', 'commit']);
    }
    assert.equal(sent.length, 12);
    await db.close();
  });

  test('a transaction’s changes to its session, and defaults that its login set for itself → do not affect other transactions', async () => {
    const db = connect(accessOf(pooler.url, testSecrets, database.url), { service: 1, scoped: 4 });
    const { test: scope } = await makePartner(db);
    await db.scoped(scope, async (tx) => {
      await tx.unsafe(`set datestyle = 'German'`);
      await tx.unsafe(`set statement_timeout = '7s'`);
      await tx.unsafe(`select pg_advisory_lock(1)`);
      await tx.unsafe(`alter role current_user set timezone = 'Asia/Tokyo'`);
      await tx.unsafe(`alter role current_user set default_transaction_read_only = on`);
      await tx.unsafe(`alter role current_user set default_transaction_isolation = 'serializable'`);
    });
    // Their defaults are those of sessions that the pooler opens from now on.
    await database.owner`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename like 'quittance\\_scoped\\_%'`;
    const read = () =>
      db.scoped(
        scope,
        (tx) => tx`
          select current_setting('datestyle') as style, current_setting('timezone') as zone,
            current_setting('statement_timeout') as timeout, current_setting('transaction_read_only') as only_reads,
            current_setting('transaction_isolation') as isolation,
            (select count(*)::int from pg_locks where locktype = 'advisory' and objid = 1
              and database = (select oid from pg_database where datname = current_database())) as locks`,
      );
    await until(
      () =>
        read().then(
          () => true,
          () => false, // the pooler has not noticed yet that the session was ended
        ),
      'a session',
    );
    for (const [row] of await Promise.all(Array.from({ length: 8 }, read))) {
      const expected = {
        style: 'ISO, MDY',
        zone: 'UTC',
        timeout: '30s',
        only_reads: 'off',
        isolation: 'read committed',
      };
      assert.deepEqual({ ...row }, { ...expected, locks: 0 });
    }
    await ensureLogins(database.owner, testSecrets, true);
    const [{ setconfig } = {}] = await database.owner`
      select s.setconfig from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
      where r.rolname = ${new URL(database.access.scoped).username}`;
    assert.ok(setconfig.includes('TimeZone=UTC') && setconfig.includes('default_transaction_read_only=off'));
    await db.close();
  });

  test('waits for locks have a limit › statements and transactions give up in time, and it stays in no session', async () => {
    const access = accessOf(pooler.url, testSecrets, database.url);
    const impatient = connect(access, { service: 2, scoped: 2 }, { ...usualWaits, lock: 0.2 });
    const { test: scope } = await makePartner(impatient);
    const merchant = await makeMerchant(impatient, scope);
    const holder = openOne(database.url);
    await holder.unsafe('begin; lock table rates in access exclusive mode; lock table merchants');
    const conflicts = (work: PromiseLike<unknown>) =>
      assert.rejects(
        async () => work,
        (error) => sqlState(error) === '55P03',
      );
    await conflicts(impatient.sql`select count(*) from rates`);
    await conflicts(impatient.transaction((tx) => tx`select count(*) from rates`));
    await conflicts(impatient.scoped(scope, (tx) => tx`select count(*) from merchants`));
    await conflicts(impatient.read(scope, (sql) => sql`select count(*) from merchants`));
    await holder.unsafe('rollback');
    await holder.end();
    await impatient.sql`update merchants set business_name = 'Ada' where id = ${merchant.id}`;
    await assert.rejects(async () => impatient.sql`update merchants set business_name = 'Bea' where 1 / ${0}::int = 1`);
    const patient = connect(access, { service: 4, scoped: 1 });
    const seen = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { sql } = index % 2 ? impatient : patient;
        const [row] = await sql`
          select ${index}::int as echo, current_setting('lock_timeout') as lock, business_name as name from merchants
          where id = ${merchant.id}`;
        return { ...row };
      }),
    );
    const expected = seen.map((_, echo) => ({ echo, lock: echo % 2 ? '200ms' : '0', name: 'Ada' }));
    assert.deepEqual(seen, expected);
    for (const db of [impatient, patient]) await db.close();
  });

  test('a command whose waits for locks have a limit → gives up on a locked table in time', async () => {
    const settings = {
      databaseUrl: pooler.url,
      databaseOwnerUrl: database.url,
      databasePoolMode: 'transaction' as const,
    };
    const service = await joinService({ ...testConfig(), ...settings }, 0.2);
    const holder = openOne(database.url);
    await holder.unsafe('begin; lock table rates in access exclusive mode');
    const found = await doctorCommands[0]?.run(service.ctx, { words: [], options: {} });
    assert.match(JSON.stringify(found), /a session holds a table locked that it needs/);
    await holder.unsafe('rollback');
    await holder.end();
    await service.close();
  });

  test('a change → listeners receive it, over a connection to the server itself', async () => {
    const db = connect(accessOf(pooler.url, testSecrets, database.url), { service: 1, scoped: 1 });
    const heard: string[] = [];
    const stop = listenForChanges(
      db,
      ({ kind }) => heard.push(kind),
      (error) => assert.fail(error as Error),
    );
    await until(() => heard.includes('anything'), 'it to listen');
    await db.sql`select pg_notify('changes', 'rates')`;
    await until(() => heard.includes('rates'), 'the change');
    stop();
    await db.close();
  });

  test('a service that takes the sessions for its own → refuses to start, and says what to set', async () => {
    const env = { SECRET_KEYS: secretsText, DATA_DIR: dataFolder(), DATABASE_URL: pooler.url };
    const told = await runService({ ...env, DATABASE_OWNER_URL: database.url });
    assert.equal(told.code, 1);
    assert.match(
      told.stderr,
      /DATABASE_URL leads to a pooler in transaction mode\. Set DATABASE_POOL_MODE=transaction/,
    );
    assert.doesNotMatch(told.stderr, /\n {4}at /);
    const { service } = accessOf(pooler.url, testSecrets);
    await assert.rejects(refuseSharedOwner(service, true), /^Error: DATABASE_OWNER_URL leads to a pooler/);
    await assert.rejects(refuseSharedOwner(service, false), /DATABASE_POOL_MODE=transaction, and DATABASE_OWNER_URL/);
    await refuseSharedOwner(database.url, true);
  });

  test('a pooler in session mode that refuses settings → a start that says what to set, and then works', async () => {
    const inSessions = await startPooler(database.owner, database.url, 'pool_mode = session');
    const env = { SECRET_KEYS: secretsText, DATA_DIR: dataFolder(), DATABASE_URL: inSessions.url };
    const told = await runService({ ...env, DATABASE_OWNER_URL: database.url });
    assert.match(told.stderr, /The pooler of DATABASE_URL refuses.*options.*Set DATABASE_POOL_MODE=transaction/);
    const settings = { DATABASE_OWNER_URL: database.url, DATABASE_POOL_MODE: 'transaction' };
    const service = await startService({ ...env, ...settings });
    assert.equal((await send(service.url, 'GET', '/readyz')).status, 200);
    assert.equal((await service.stop()).stderr, '');
    await inSessions.stop();
  });

  test('a pooler in statement mode → refused with what to set there', async () => {
    const lines = ['pool_mode = statement', 'ignore_startup_parameters = options'];
    const single = await startPooler(database.owner, database.url, ...lines);
    const env = { SECRET_KEYS: secretsText, DATA_DIR: dataFolder(), DATABASE_URL: single.url };
    const told = await runService({ ...env, DATABASE_OWNER_URL: database.url, DATABASE_POOL_MODE: 'transaction' });
    await single.stop();
    assert.equal(told.code, 1);
    assert.match(told.stderr, /DATABASE_URL leads to a pooler in statement mode.*set pool_mode = transaction there/);
  });

  test('a pooler that was put into transaction mode under a running service → /readyz says so, and doctor', async () => {
    const lines = ['pool_mode = transaction', 'ignore_startup_parameters = options', 'default_pool_size = 1'];
    const changed = await startPooler(database.owner, database.url, ...lines);
    const dbs = [0, 1].map(() => connect(accessOf(changed.url, testSecrets), { service: 1, scoped: 1 }));
    const [one, other] = dbs as [Database, Database];
    const token = 'x'.repeat(24);
    const config = testConfig({ metrics: { host: '127.0.0.1', port: null, token }, databaseUrl: changed.url });
    await isWritable(other.sql);
    const ctx = testContext(one, { config });
    const app = await buildMetricsServer(ctx);
    const ready = await app.inject({ url: '/readyz', headers: { authorization: `Bearer ${token}` } });
    assert.deepEqual([ready.statusCode, ready.json().database], [503, sharedSessions]);
    const doctor = doctorCommands[0]?.run(testContext(database.db, { config }), { words: [], options: {} });
    const { findings } = (await doctor) as { findings: { check: string; state: string; advice: string }[] };
    const finding = findings.find(({ check }) => check === 'pooler');
    assert.deepEqual([finding?.state, finding?.advice], ['failed', sharedSessions]);
    await app.close();
    for (const db of dbs) await db.close();
    await changed.stop();
  });

  test('logins without their defaults → refused with what to do', async () => {
    const access = accessOf(pooler.url, [{ id: 'bare', key: Buffer.alloc(32, 3) }], database.url);
    await ensureLogins(database.owner, [{ id: 'bare', key: Buffer.alloc(32, 3) }]);
    const db = connect(access, { service: 1, scoped: 1 });
    await assert.rejects(checkSessions(access, db.sql), /jit = on.*RECONNECT.*logins --owner/);
    await db.close();
    for (const url of [access.service, access.scoped]) {
      const { username } = new URL(url);
      await database.owner`delete from scope_keys where login = ${username}`;
      await until(
        () =>
          database.owner.unsafe(`drop owned by ${username}; drop role ${username}`).then(
            () => true,
            () => false,
          ),
        'the login to go',
      );
    }
  });
});
