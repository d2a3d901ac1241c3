import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { doctorCommands } from '../../src/cli/doctor.ts';
import { connect, type Database, openOwner, type Scope, type Sql } from '../../src/db/connection.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readerWaits, type Unused, withReader } from '../../src/db/reader.ts';
import { identifiers } from '../../src/db/sql.ts';
import { buildMetricsServer } from '../../src/http/health.ts';
import { buildServer } from '../../src/http/server.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { send } from '../support/api/client.ts';
import { testConfig, testContext } from '../support/app.ts';
import { accessTo } from '../support/database.ts';
import { makeKey, makeMerchant, makePartner, makeRequest, testSecrets } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { endAll } from '../support/service.ts';
import { type Cluster, startCluster } from '../support/standby.ts';
import { until } from '../support/until.ts';

/** Prepares an empty database as the service does at its start. */
async function prepare(url: string): Promise<void> {
  const owner = openOwner(url);
  await migrate(owner);
  await ensureLogins(owner, testSecrets);
  await owner.end();
}

let cluster: Cluster;
let primary: Database;
const opened: Database[] = [];
before(async () => {
  cluster = await startCluster(prepare);
  primary = connect(accessTo(cluster.primary.url));
});
after(async () => {
  await primary?.close();
  for (const db of opened) await db.close();
  await cluster?.stop();
  await endAll();
});

/** A node's database with the cluster's standby as its reader, and what it said of it. */
function openNode(
  url = cluster.standby.url,
  reader = connect(accessTo(url), { service: 1, scoped: 2 }, readerWaits),
): { db: Database; reader: Database; said: Array<Unused | null> } {
  const said: Array<Unused | null> = [];
  const db = withReader(connect(accessTo(cluster.primary.url)), reader, (unused) => said.push(unused));
  opened.push(db);
  return { db, reader, said };
}

/** Another database of the cluster, prepared on the primary: its address on the standby. */
async function besides(name: string, prepareIt: (url: string) => Promise<void>): Promise<string> {
  const at = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const owner = openOwner(cluster.primary.url);
  await owner`create database ${identifiers(name)}`;
  await owner.end();
  await prepareIt(at(cluster.primary.url));
  const there = (sql: Sql) => sql`select from pg_database where datname = ${name}`;
  await until(async () => (await cluster.onStandby(there)).length > 0, 'the standby to have it');
  return at(cluster.standby.url);
}

type Seen = { standby: boolean; requests: number };
const look = (db: Database, scope: Scope): Promise<Seen> =>
  db.reading(scope, async (tx) => {
    const [row] = await tx<Seen[]>`select pg_is_in_recovery() as standby, count(*)::int as requests from requests`;
    return row as Seen;
  });

/**
 * Looks until the node says this of its reader. On a busy machine it may say before that it cannot be reached, and then
 * leaves it alone for some seconds; each look shows the same.
 */
async function assertSays({ db, said }: ReturnType<typeof openNode>, scope: Scope, unused: Unused, requests: number) {
  const isSaid = async () => {
    assert.deepEqual(await look(db, scope), { standby: false, requests });
    return said.at(-1) === unused;
  };
  await until(isSaid, `“${unused}”`);
}

test('a standby that follows → answers lists, and each shows what was acknowledged before it was asked', async () => {
  const { db, said } = openNode();
  const { test: scope } = await makePartner(primary);
  const merchant = await makeMerchant(primary, scope);
  let onStandby = 0;
  // On a busy machine the standby may replay too late for some of them, so this repeats until it has.
  const deadline = performance.now() + patienceMs;
  for (let requests = 1; requests <= 30 || (onStandby === 0 && performance.now() < deadline); requests++) {
    await makeRequest(primary, scope, merchant);
    const seen = await look(db, scope);
    assert.equal(seen.requests, requests);
    if (seen.standby) onStandby++;
  }
  assert.ok(onStandby > 0, `the primary answered all: ${said}`);
});

test('a read on a standby → only the rows of its scope', async () => {
  const { db } = openNode();
  const { test: scope, live } = await makePartner(primary);
  await makeRequest(primary, scope, await makeMerchant(primary, scope));
  assert.equal((await look(db, live)).requests, 0);
});

test('a read of one statement → answered by the standby, in its scope, and by the primary where the standby cannot', async () => {
  const { db, said } = openNode();
  const { test: scope, live } = await makePartner(primary);
  await makeRequest(primary, scope, await makeMerchant(primary, scope));
  const read = async (of: Scope) =>
    (
      await db.read(
        of,
        (sql) => sql<Seen[]>`
      select pg_is_in_recovery() as standby, count(*)::int as requests from requests`,
      )
    )[0];
  await until(async () => (await read(scope))?.standby === true, 'the standby answers');
  assert.equal((await read(scope))?.requests, 1);
  assert.equal((await read(live))?.requests, 0);
  const changing = await db.read(scope, (sql) => sql`update merchants set phone = '1' returning id`);
  assert.deepEqual([changing.length, said.at(-1)], [1, 'unreachable']);
});

test('the API’s list with a reader → shows every create on every node, and the reader was asked', async () => {
  const nodes = await Promise.all(
    [openNode(), openNode()].map(async ({ db, reader }) => {
      const app = await buildServer(testContext(db, { chains: { test: [], live: [] } }));
      let asked = 0;
      for (const pool of reader.pools) pool.observer = () => asked++;
      return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }), asked: () => asked };
    }),
  );
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const { test: scope } = await makePartner(primary);
  const { key } = await makeKey(primary, scope);
  try {
    const body = { display_name: 'Till', email: 'till@example.com', app_mode: 'personal' };
    const made = await send(first.url, 'POST', '/api/v1/accounts', { key, body });
    assert.equal(made.status, 201, made.text);
    const listed = await send(second.url, 'GET', '/api/v1/accounts', { key });
    assert.deepEqual(listed.json.merchants.length, 1);
    const before = second.asked();
    // It is not used for some seconds if it took too long to begin.
    await until(async () => {
      const { key: another } = await makeKey(primary, scope); // none is called too often
      assert.equal((await send(second.url, 'GET', '/api/v1/requests', { key: another })).status, 200);
      return second.asked() > before;
    }, 'the reader is asked');
  } finally {
    for (const { app } of nodes) await app.close();
  }
});

test('a standby that is behind → the primary answers with the change; once it has caught up it is used again', async () => {
  const node = openNode();
  const { test: scope } = await makePartner(primary);
  const merchant = await makeMerchant(primary, scope);
  await cluster.onStandby((sql) => sql`select pg_wal_replay_pause()`);
  const isPaused = async (sql: Sql) => (await sql`select pg_get_wal_replay_pause_state() as s`)[0]?.s === 'paused';
  await until(() => cluster.onStandby(isPaused), 'replay is paused');
  await makeRequest(primary, scope, merchant);
  await assertSays(node, scope, 'behind', 1);
  const told = await diagnose(cluster.standby.url);
  assert.equal(await upIn(node.db), '0');
  assert.deepEqual(
    [told.state, told.advice.split('.')[0]],
    ['attention', 'The standby of DATABASE_READ_URL is behind'],
  );
  await cluster.onStandby((sql) => sql`select pg_wal_replay_resume()`);
  await until(async () => (await look(node.db, scope)).standby, 'the standby answers again');
  assert.equal(node.said.at(-1), null);
  await until(async () => (await upIn(node.db)) === '1', 'the metric to say so');
  assert.equal(await upIn(primary), undefined, 'a node without a reader');
});

test('work that the standby refuses as a change → runs on the primary', async () => {
  const { db, said } = openNode();
  const { test: scope } = await makePartner(primary);
  const merchant = await makeMerchant(primary, scope);
  const rows = await db.reading(
    scope,
    (tx) => tx`update merchants set phone = '1' where id = ${merchant.id} returning id`,
  );
  assert.equal(rows.length, 1);
  assert.deepEqual(said, ['unreachable']);
});

test('a standby that stalls, connections and all → the primary answers while the standby still owes its answer', async () => {
  const { reader, said } = openNode();
  let owed = 0;
  const scoped: Database['scoped'] = (...asked) => {
    owed++;
    return reader.scoped(...asked).finally(() => owed--);
  };
  const db = withReader(primary, { ...reader, scoped }, (unused) => said.push(unused));
  const { test: scope } = await makePartner(primary);
  await until(async () => (await look(db, scope)).standby, 'the standby answers');
  said.length = 0;
  const processes = await cluster.onStandby(
    (sql) => sql<{ pid: number }[]>`
      select pid from pg_stat_activity union select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int`,
  );
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of processes) signalProcess(pid, name); // one that has ended meanwhile stalls nobody
  };
  signal('SIGSTOP');
  try {
    assert.deepEqual(await look(db, scope), { standby: false, requests: 0 });
    assert.deepEqual([owed, said], [1, ['unreachable']]);
  } finally {
    signal('SIGCONT');
  }
});

/** What a node with this database reports about its reader in `/metrics`. */
async function upIn(db: Database): Promise<string | undefined> {
  const config = testConfig({ metrics: { host: '', port: 0, token: null } });
  const server = await buildMetricsServer(testContext(db, { config, chains: { test: [], live: [] } }));
  const { body } = await server.inject({ url: '/metrics' });
  await server.close();
  return /^quittance_reader_up (\d)$/m.exec(body)?.[1];
}

/** What `doctor` reports about a reader. */
async function diagnose(url: string): Promise<{ check: string; state: string; advice: string }> {
  const config = testConfig({ databaseReadUrl: url });
  const run = doctorCommands[0]?.run(testContext(primary, { config, chains: { test: [], live: [] } }), noArguments);
  const { findings } = (await run) as { findings: { check: string; state: string; advice: string }[] };
  const found = findings.find(({ check }) => check.startsWith('reader'));
  assert.ok(found);
  return found;
}
const noArguments = { words: [], options: {} };

test('a standby of another cluster with the same schema and logins, ahead of this one → no list is read there', async () => {
  const other = await startCluster(prepare);
  try {
    const owner = openOwner(other.primary.url);
    for (let i = 0; i < 5; i++) await owner`select pg_switch_wal(), pg_logical_emit_message(false, 'ahead', 'of ours')`;
    const [ahead] = await owner<{ at: string }[]>`select pg_current_wal_lsn()::text as at`;
    await until(
      () =>
        other.onStandby(
          async (sql) =>
            (await sql`select from pg_last_wal_replay_lsn() at where at >= ${ahead?.at ?? ''}::text::pg_lsn`).length >
            0,
        ),
      'the other standby to follow',
    );
    await owner.end();
    const node = openNode(other.standby.url);
    const { test: scope } = await makePartner(primary);
    await makeRequest(primary, scope, await makeMerchant(primary, scope));
    await assertSays(node, scope, 'of another database', 1);
    const told = await diagnose(other.standby.url);
    assert.deepEqual(
      [told.state, told.advice.split(':')[0]],
      ['failed', 'DATABASE_READ_URL leads to another database'],
    );
    assert.deepEqual(await diagnose(cluster.standby.url), { check: told.check, state: 'ok', advice: '' });
  } finally {
    await other.stop();
  }
});

test('another database of the same servers → no list is read there', async () => {
  const node = openNode(await besides('other', prepare));
  const { test: scope } = await makePartner(primary);
  await makeRequest(primary, scope, await makeMerchant(primary, scope));
  await assertSays(node, scope, 'of another database', 1);
});

test('a database on the standby without our tables, or whose logins are not ours → the primary answers', async () => {
  const { test: scope } = await makePartner(primary);
  const wrong = Object.assign(new URL(cluster.standby.url), { username: 'nobody', password: 'wrong' }).href;
  const foreign = connect(
    { ...accessTo(wrong), service: wrong, scoped: wrong },
    { service: 1, scoped: 1 },
    readerWaits,
  );
  const nodes = [openNode(await besides('bare', async () => {})), openNode(cluster.standby.url, foreign)];
  for (const { db, said } of nodes) {
    assert.deepEqual(await look(db, scope), { standby: false, requests: 0 });
    assert.deepEqual(said, ['unreachable']);
  }
});

test('a standby that stops, and one that was promoted → the primary answers, and nothing fails', async () => {
  const { test: scope } = await makePartner(primary);
  const following = openNode();
  await until(async () => (await look(following.db, scope)).standby, 'the standby answers');
  await cluster.onStandby((sql) => sql`select pg_promote()`);
  await assertSays(following, scope, 'no standby of this primary', 0);
  await cluster.standby.stop();
  const late = openNode();
  assert.equal((await look(late.db, scope)).standby, false);
  assert.deepEqual(late.said, ['unreachable']);
});
