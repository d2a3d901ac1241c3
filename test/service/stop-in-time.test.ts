import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { openOwner } from '../../src/db/connection.ts';
import { migrationLock } from '../../src/db/migrate.ts';
import { freePort } from '../../src/lib/ports.ts';
import { makeKey } from '../support/fixtures.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, type Service, startService, stopStarting } from '../support/service.ts';
import { until } from '../support/until.ts';

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
});
after(async () => {
  await endAll();
  await fixtures?.drop();
  await chains?.stop();
});

/** Sends this, and then a byte at a time for ever. */
async function drip(port: number, head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {}).resume();
  socket.write(head);
  const timer = setInterval(() => socket.write('a'), 300);
  socket.once('close', () => clearInterval(timer));
  return socket;
}

const withBody = (path: string, type: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${more}Content-Type: ${type}\r\nContent-Length: 60000\r\n\r\n{`;
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

async function startNode(): Promise<{ node: Service; port: number; figuresPort: number }> {
  const [port, figuresPort] = [await freePort(), await freePort()];
  const env = { ...fixtures.env, PORT: String(port), METRICS_PORT: String(figuresPort), DRAIN_SECONDS: '1' };
  return { node: await startService(env), port, figuresPort };
}

/** The bound is 20 s, and it used to take a minute and more; what is between is left to a busy machine. */
async function assertEnds(node: Service): Promise<string> {
  const startedMs = performance.now();
  const { code, stdout, stderr } = await node.stop();
  const seconds = (performance.now() - startedMs) / 1000;
  assert.ok(seconds < 45, `${seconds} s`);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

test('a stop under clients that drip requests, on both listeners → they are cut off, and it ends in time by itself', async () => {
  const { node, port, figuresPort } = await startNode();
  const { key } = await makeKey(fixtures.db, fixtures.scope);
  const heads = [
    withBody('/api/v1/requests', json, `Authorization: Bearer ${key}\r\n`),
    withBody('/portal/sign-in', form, `Origin: http://localhost:${port}\r\n`),
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ',
  ];
  const figures = [withBody('/metrics', json), 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-A: '];
  const sockets = await Promise.all([
    ...Array.from({ length: 40 }, (_, i) => drip(port, heads[i % heads.length] ?? '')),
    ...Array.from({ length: 10 }, (_, i) => drip(figuresPort, figures[i % figures.length] ?? '')),
  ]);
  try {
    assert.doesNotMatch(await assertEnds(node), /took too long/);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('a stop while deliveries wait for a lock in the database → the process ends in time, and says so', async () => {
  const { node } = await startNode();
  await fixtures.owner.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`lock table webhook_deliveries in access exclusive mode`;
    // Other loops give up sooner.
    const waits = () => fixtures.db.sql`
      select from pg_locks where not granted and relation = 'webhook_deliveries'::regclass
        and database = (select oid from pg_database where datname = current_database())
        and waitstart < clock_timestamp() - interval '3 s'`;
    await until(async () => (await waits()).length > 0, 'deliveries to wait');
    assert.match(await assertEnds(node), /took too long/);
  });
});

test('a stop while another node migrates, which this one waits for at its start → it ends at once, without an error', async () => {
  const other = openOwner(fixtures.env.DATABASE_URL as string);
  await other.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`select pg_advisory_xact_lock(${migrationLock})`;
    const asks = () => fixtures.owner`
      select from pg_stat_activity where query like 'select pg_try_advisory_lock%' and datname = current_database()`;
    const env = { ...fixtures.env, PORT: String(await freePort()) };
    const ended = await stopStarting(env, async () => (await asks()).length > 0);
    assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, '', '']);
  });
  await other.end();
});
