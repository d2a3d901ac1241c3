import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Sql } from '../../src/db/connection.ts';
import { compareMigrations } from '../../src/db/migrate.ts';
import { identifiers } from '../../src/db/sql.ts';
import { freePort } from '../../src/lib/ports.ts';
import { pause } from '../../src/lib/time.ts';
import { type Answer, send } from '../support/api/client.ts';
import { openOne } from '../support/database.ts';
import { secretsText } from '../support/fixtures.ts';
import { startBalancer } from '../support/net/haproxy.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { chainsFile, twoChains } from '../support/nodes.ts';
import { checkOut, findPreviousRelease } from '../support/previous-release.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/**
 * Two nodes of the previous release serve creates, reads, payments and events behind a load balancer, on a database of
 * their own schema. Then they are replaced one after the other, and the first new node migrates under that load.
 */
const commit = findPreviousRelease();
const restMs = 300;
/** Enough keys that none reaches its limit. */
const keyCount = 12;

let chains: Awaited<ReturnType<typeof twoChains>>;
let server: Sql;
let owner: Sql;
let balancer: Awaited<ReturnType<typeof startBalancer>>;
let receiver: Receiver;
let previous: ReturnType<typeof checkOut>;
const database = `upgrade_${randomBytes(6).toString('hex')}`;
before(async () => {
  if (commit === null) throw new Error('This test needs a git history that goes back to the previous release.');
  previous = checkOut(commit);
  chains = await twoChains();
  receiver = await startReceiver();
  server = openOne(process.env.TEST_DATABASE_URL ?? '');
  await server`create database ${identifiers(database)}`;
});
after(async () => {
  await balancer?.stop();
  await endAll();
  await owner?.end();
  await server?.unsafe(`drop database if exists ${database} with (force)`);
  await server?.end();
  await receiver?.close();
  await chains?.stop();
  previous?.remove();
});

test('nodes of the previous release replaced under load, the first new one migrating → no error, nothing lost or twice', async (t) => {
  const url = Object.assign(new URL(process.env.TEST_DATABASE_URL ?? ''), { pathname: `/${database}` }).href;
  const folder = dataFolder();
  const env = {
    ...{ DATABASE_URL: url, CHAINS_FILE: chainsFile(chains, folder), DATA_DIR: folder, SECRET_KEYS: secretsText },
    DRAIN_SECONDS: '3',
  };
  const ports = [await freePort(), await freePort()];
  const startOld = (port: number) =>
    startService({ ...env, PORT: String(port) }, { command: [process.execPath, join(previous.folder, 'src/main.ts')] });
  const startNew = (port: number) => startService({ ...env, PORT: String(port) });

  const nodes: Service[] = [];
  for (const port of ports) nodes.push(await startOld(port)); // in turn: the first one makes the demo partner
  owner = openOne(url);
  const { pending } = await compareMigrations(owner);
  assert.ok(pending.length > 0, 'the previous release has an older schema');
  const [, merchant = ''] = /Merchant, ready +(\S+)/.exec(nodes[0]?.stdout() ?? '') ?? [];
  const command = async (...words: string[]) => {
    const args = [join(previous.folder, 'src/cli.ts'), ...words, '--partner', 'demo', '--mode', 'test', '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
    return JSON.parse(stdout) as { key: string };
  };
  const [{ wallet = '' } = {}] = await owner`select wallet_address as wallet from merchants where id = ${merchant}`;
  await command('webhook', 'set', '--url', receiver.url);
  const keys = await Promise.all(Array.from({ length: keyCount }, () => command('key', 'create')));
  balancer = await startBalancer(ports);

  const answers: Answer[] = [];
  const paid: string[] = [];
  let [calls, working] = [0, true];
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const key = keys[calls++ % keyCount]?.key ?? '';
    const answer = await send(balancer.url, method, path, { key, body });
    answers.push(answer);
    return answer;
  };
  const create = () =>
    call('POST', '/api/v1/requests/create', {
      ...{ account_id: merchant, fiat_amount_int: 1250, idempotency_key: randomUUID() },
    });
  const partner = async () => {
    while (working) {
      const { json } = await create();
      await call('GET', `/api/v1/requests/${json.request_id}`);
      await pause(restMs);
    }
  };
  const customer = async () => {
    while (working) {
      const { json } = await create();
      const payment = { to: wallet, usdcMicro: BigInt(json.amount.usdc_micro) };
      await chains.test.mine(1);
      await chains.test.pay({ from: chains.test.wallet(), ...payment });
      paid.push(json.request_id);
      await chains.test.mine(3);
      await pause(restMs);
    }
  };
  const load = Promise.all([partner(), partner(), customer()]);
  const failed = load.catch(() => {
    working = false;
  });
  const workOn = (more: number) => {
    const goal = answers.length + more;
    return until(() => !working || answers.length >= goal, `${more} more calls`);
  };
  await workOn(30);
  for (const [index, port] of ports.entries()) {
    const ended = await (nodes[index] as Service).stop();
    assert.deepEqual([ended.code, ended.stderr], [0, '']);
    await workOn(10);
    nodes[index] = await startNew(port);
    await until(async () => (await send(nodes[index]?.url ?? '', 'GET', '/readyz')).status === 200, 'readiness');
    await workOn(40); // on the old and the new version side by side, after the first turn
  }
  working = false;
  await failed;
  await load;
  assert.deepEqual((await compareMigrations(owner)).pending, []);

  const told = () => receiver.received.map(({ body }) => (JSON.parse(body) as { request_id: string }).request_id);
  const withoutEvent = () => new Set(paid).difference(new Set(told()));
  await until(() => withoutEvent().size === 0, 'an event of each payment');
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 201]);
  t.diagnostic(
    `${answers.length} calls, ${paid.length} payments, ${pending.length} migrations; from ${commit?.slice(0, 8)}`,
  );
  const made = answers.filter(({ status }) => status === 201).map(({ json }) => json.request_id);
  const stored = await owner`select id, idempotency_key, proof_status from requests`;
  assert.deepEqual(stored.map(({ id }) => id).sort(), made.toSorted());
  assert.equal(new Set(stored.map(({ idempotency_key }) => idempotency_key)).size, made.length);
  const verified = stored.filter(({ proof_status }) => proof_status === 'verified').map(({ id }) => id);
  assert.deepEqual(verified.sort(), paid.toSorted());
  const bodies = Map.groupBy(receiver.received, ({ delivery }) => delivery);
  assert.equal(bodies.size, paid.length, 'one event for each payment');
  for (const posts of bodies.values()) assert.equal(new Set(posts.map(({ body }) => body)).size, 1);
  for (const node of nodes) assert.equal((await node.stop()).stderr, '');
});
