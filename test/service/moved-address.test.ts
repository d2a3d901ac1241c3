import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pino from 'pino';
import { connect, type Database, openOwner } from '../../src/db/connection.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { followAddress } from '../../src/db/moved-address.ts';
import { accessTo } from '../support/database.ts';
import { testSecrets } from '../support/fixtures.ts';
import { startProxy } from '../support/net/proxy.ts';
import { endAll } from '../support/service.ts';
import { type Cluster, startCluster } from '../support/standby.ts';
import { until } from '../support/until.ts';

let cluster: Cluster;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let db: Database;
before(async () => {
  cluster = await startCluster(async (url) => {
    const owner = openOwner(url);
    await migrate(owner);
    await ensureLogins(owner, testSecrets);
    await owner.end();
  });
  proxy = await startProxy(cluster.primary.url);
  db = connect(accessTo(proxy.url));
});
after(async () => {
  await db?.close();
  proxy?.close();
  await cluster?.stop();
  await endAll();
});

const portOf = (url: string) => Number(new URL(url).port);
/** The ports of the servers that answer over all connections of the pool at once. */
async function serversInUse(): Promise<number[]> {
  const ports = Array.from({ length: 8 }, async () => {
    const [row] = await db.sql<{ port: number }[]>`select inet_server_port() as port, pg_sleep(0.05)`;
    return row?.port ?? 0;
  });
  return [...new Set(await Promise.all(ports))];
}

test('An address that moves to a promoted standby while the old primary still answers → nothing begins on the old one any more, and the log says so', async () => {
  const said: { level: number; msg: string; timeline?: number }[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => said.push(JSON.parse(line)) });
  const stop = new AbortController();
  const heard: string[] = [];
  const following = followAddress([db], accessTo(proxy.url).service, log, stop.signal, 100);
  const listening = Promise.withResolvers<void>();
  const unlisten = db.sql.listen('moved', {
    onMessage: (text) => heard.push(text),
    onListening: () => listening.resolve(),
    onError: () => {},
  });
  await listening.promise;
  assert.deepEqual(await serversInUse(), [portOf(cluster.primary.url)]);

  // Work that is under way ends where it began.
  const [held, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const underWay = db.transaction(async (tx) => {
    held.resolve();
    await resume.promise;
    const [row] = await tx<{ port: number }[]>`select inet_server_port() as port`;
    return row?.port;
  });
  await held.promise;
  await cluster.onStandby((sql) => sql`select pg_promote()`);
  proxy.lead(cluster.standby.url);
  await until(() => said.some(({ level }) => level === 50), 'the log to say it');
  const lines = said.filter(({ level }) => level > 20);
  assert.deepEqual(
    lines.map(({ timeline, msg }) => [timeline, msg]),
    [[2, 'two database servers call themselves primary: stop the one of the timeline that was left']],
  );
  assert.deepEqual(await serversInUse(), [portOf(cluster.standby.url)]);
  resume.resolve();
  assert.equal(await underWay, portOf(cluster.primary.url));
  await until(async () => {
    await db.sql`select pg_notify('moved', 'on the new one')`;
    return heard.length > 0;
  }, 'the notification');
  unlisten();
  stop.abort();
  await following;
});
