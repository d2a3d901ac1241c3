import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect, type Database, openOwner } from '../../src/db/connection.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { buildServer } from '../../src/http/server.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { assertRefused, send } from '../support/api/client.ts';
import { testConfig, testContext } from '../support/app.ts';
import { accessTo } from '../support/database.ts';
import { movedClock } from '../support/deliveries.ts';
import { makeKey, makePartner, testSecrets } from '../support/fixtures.ts';
import { dataFolder, endAll } from '../support/service.ts';
import { until } from '../support/until.ts';

const token = 'a-token-for-the-one-who-scrapes';
let folder: string;
let stopServer = async () => {};
before(() => {
  folder = dataFolder();
});
after(async () => {
  await stopServer();
  await endAll();
});

const serverPid = () => Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);

async function startServer(): Promise<string> {
  const server = await startEmbedded(folder);
  stopServer = server.stop;
  return server.url;
}

/** Works with a node on a database of its own. */
async function withNode(
  work: (node: string, db: Database, serverUrl: string, clock: ReturnType<typeof movedClock>) => Promise<void>,
): Promise<void> {
  const url = await startServer();
  const owner = openOwner(url);
  await migrate(owner);
  await ensureLogins(owner, testSecrets);
  await owner.end();
  const db = connect(accessTo(url));
  const config = testConfig({ metrics: { host: '127.0.0.1', port: null, token } });
  const clock = movedClock();
  const app = await buildServer(testContext(db, { clock, config, chains: { test: [], live: [] } }));
  try {
    await work(await app.listen({ host: '127.0.0.1', port: 0 }), db, url, clock);
  } finally {
    await app.close();
    await db.close();
    await stopServer();
  }
}

test('a database whose processes are frozen → /readyz says so while a balancer still listens; thawed → as before', async () => {
  await withNode(async (node, { sql }, _url, clock) => {
    const ready = () => {
      clock.forward(6_000); // a verdict counts for five seconds
      return send(node, 'GET', '/readyz', { headers: { authorization: `Bearer ${token}` } });
    };
    assert.equal((await ready()).status, 200);
    const processes = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity union select ${serverPid()}::int`;
    const signal = (name: NodeJS.Signals) => {
      for (const { pid } of processes) signalProcess(pid, name);
    };
    signal('SIGSTOP');
    try {
      const { status, json } = await ready();
      assert.deepEqual([status, json.database], [503, 'does not answer within 2 s']);
    } finally {
      signal('SIGCONT');
    }
    await until(async () => (await ready()).status === 200, 'it is ready again');
  });
});

test('a database that was demoted to a standby → calls are answered 503 unavailable, and so is /readyz; promoted → as before', async () => {
  await withNode(async (node, db, url) => {
    const { test: scope } = await makePartner(db);
    const { key } = await makeKey(db, scope);
    assert.equal((await send(node, 'GET', '/api/v1/requests', { key })).status, 200);

    await stopServer();
    writeFileSync(join(folder, 'postgres/standby.signal'), '');
    assert.equal(await startServer(), url);
    assertRefused(await send(node, 'GET', '/api/v1/requests', { key }), 503, 'unavailable');
    assert.equal((await send(node, 'GET', '/readyz')).status, 503);
    const admin = openOwner(url);
    await admin`select pg_promote()`;
    await admin.end();
    assert.equal((await send(node, 'GET', '/api/v1/requests', { key })).status, 200);
  });
});
