import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { signalProcess } from '../../src/lib/processes.ts';
import { ApiClient, send } from '../support/api/client.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { patienceMs } from '../support/patience.ts';
import { acceptInvitation, isInside, newEmail } from '../support/people/people.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const hourMs = 3_600_000;
const token = 'a-token-for-the-one-who-scrapes';
const bearer = { headers: { authorization: `Bearer ${token}` } };
const preload = pathToFileURL(join(root, 'test/faults/moved-clock.ts')).href;

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
let right: Service;
let wrong: Service;
const clockFile = join(dataFolder(), 'clock');
const env = () => ({ ...fixtures.env, METRICS_TOKEN: token });
/** The environment of a process on the machine whose clock is wrong. */
const wrongEnv = () => ({ ...env(), MOVED_CLOCK: clockFile, NODE_OPTIONS: `--import=${preload}` });
const setAhead = (ms: number) => {
  writeFileSync(clockFile, String(ms));
  signalProcess(wrong.pid, 'SIGUSR2');
};

before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
  right = await startService(env());
  writeFileSync(clockFile, String(2 * hourMs));
  wrong = await startService(wrongEnv());
});
after(async () => {
  await endAll();
  await fixtures?.drop();
  await chains?.stop();
});

const create = ({ url }: Service) =>
  new ApiClient(fixtures.db, url, fixtures.scope).create({ account_id: fixtures.merchant.id, fiat_amount_int: 1250 });

/** Runs a command on the machine whose clock is wrong. */
async function command<T>(...words: string[]): Promise<T> {
  const { stdout } = await run(join(root, 'bin/quittance'), [...words, '--json'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...wrongEnv() },
  }).catch((error: { stdout: string }) => error); // doctor exits with 1 for what it finds besides
  return JSON.parse(stdout) as T;
}

async function clockOf({ url }: Service): Promise<string> {
  const answer = await send(url, 'GET', '/readyz', bearer);
  assert.equal(answer.status, 200, answer.text);
  return String((answer.json as unknown as { clock: string }).clock);
}

async function assertRatesServeBoth(): Promise<void> {
  for (const node of [right, wrong]) assert.equal((await create(node)).status, 201);
}

test('rates that a node two hours ahead fetched → both nodes create with them', async () => {
  await fixtures.db.sql`delete from rates`;
  await wrong.stop();
  wrong = await startService(wrongEnv());
  await assertRatesServeBoth();
});

test('a link made by a command on the wrong machine, opened on the right node → signs in on both', async () => {
  const { link } = await command<{ link: string }>('admin', 'invite', '--email', newEmail());
  const visitor = startVisitor(right.url);
  assert.equal(isInside(await acceptInvitation(visitor, link)), true);
  const there = startVisitor(wrong.url);
  for (const [name, value] of visitor.cookies) there.cookies.set(name, value);
  for (const one of [there, visitor]) assert.equal(isInside(await one.open('/admin/sessions')), true);
});

test('the wrong clock is named by the node’s log, details and metrics, and by doctor; the other node’s is fine', async () => {
  assert.equal(await clockOf(right), 'ok');
  assert.equal(await clockOf(wrong), 'this machine’s is 7200 s ahead of the database’s, which counts');
  assert.match(wrong.stdout(), /"ahead_ms":7\d{6},.*this machine’s clock differs from the database’s/);
  assert.match((await send(wrong.url, 'GET', '/metrics', bearer)).text, /^quittance_clock_ahead_seconds 7(199|200)/m);
  const { findings } = await command<{ findings: { check: string; state: string; advice: string }[] }>('doctor');
  const [clock] = findings.filter(({ check }) => check === 'clock');
  assert.equal(clock?.state, 'attention');
  assert.match(clock.advice, /^This machine’s clock is 7200 s off the database’s, .*NTP/);
});

test('`listen` on the wrong machine → accepts the signatures of events, and says the database’s time', async () => {
  const request = await fixtures.request();
  await fixtures.pay(request);
  await chains.test.mine(3);
  const words = ['listen', '--partner', fixtures.partner.slug, '--mode', 'test', '--count', '1'];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...wrongEnv() };
  const { stdout } = await run(join(root, 'bin/quittance'), words, { env, timeout: patienceMs });
  const [, at = '', id] = /^(\S+) {2}payment\.proof_verified {2}request (\S+) .* signature valid$/m.exec(stdout) ?? [];
  assert.equal(id, request.id, stdout);
  assert.ok(Math.abs(new Date(at).getTime() - Date.now()) < hourMs, at);
});

test('the clock is set right, and then two hours back, while the node runs → it goes on at once, and says both', async () => {
  setAhead(0);
  await until(async () => wrong.stdout().includes('agrees with the database’s again'), 'the log to say so');
  await until(async () => (await clockOf(wrong)) === 'ok', 'the details to say so');
  setAhead(-2 * hourMs);
  await assertRatesServeBoth();
  await until(async () => /behind the database’s/.test(await clockOf(wrong)), 'the details to say so');
  await assertRatesServeBoth();
});
