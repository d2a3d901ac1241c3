import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { openOwner } from '../../src/db/connection.ts';
import { embeddedUrl } from '../../src/db/embedded.ts';
import { freePort } from '../../src/lib/ports.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { readDevChains } from '../../src/sandbox/chain.ts';
import type { Demo } from '../../src/sandbox/demo.ts';
import { headNumber, usdcBalance } from '../../src/sandbox/wallet.ts';
import { type ApiJson, send } from '../support/api/client.ts';
import {
  crashService,
  dataFolder,
  embeddedPids,
  endAll,
  runService,
  type Service,
  startService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const dataDir = dataFolder();
const isRoot = process.getuid?.() === 0;
/** One port for all starts, because addresses in answers contain it. */
const home = { DATA_DIR: dataDir, PORT: String(await freePort()) };
let service: Service;

after(endAll);

function demoOf(folder: string): Demo {
  return JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as Demo;
}

function testChainOf(folder: string) {
  const chain = readDevChains(folder)?.test[0];
  assert.ok(chain);
  return chain;
}

/** Runs `bin/quittance … --json` beside the service of a data folder. */
async function cli<T>(folder: string, ...args: string[]): Promise<T> {
  const env = { PATH: process.env.PATH, DATA_DIR: folder };
  const { stdout, stderr } = await run(join(root, 'bin/quittance'), [...args, '--json'], { env });
  assert.equal(stderr, '');
  return JSON.parse(stdout) as T;
}

/** Runs the `curl` command that a service printed, as someone who pastes it would. */
async function pasteCurl(from: Service): Promise<ApiJson> {
  const command = /^ {4}curl -s .*?(?=\n\n)/ms.exec(from.stdout())?.[0];
  assert.ok(command, from.stdout());
  const { stdout } = await run('bash', ['-c', command]);
  return JSON.parse(stdout) as ApiJson;
}

async function read(from: Service, id: string): Promise<ApiJson> {
  const answer = await send(from.url, 'GET', `/api/v1/requests/${id}`, { key: demoOf(dataDir).test_key });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

async function verified(id: string): Promise<ApiJson> {
  const owner = openOwner(embeddedUrl(dataDir) as string);
  try {
    const isVerified = async () =>
      (await owner`select from requests where id = ${id} and proof_status = 'verified'`).length === 1;
    await until(isVerified, `${id} to be verified`);
  } finally {
    await owner.end();
  }
  return read(service, id);
}

function assertNothingRuns(folder: string): void {
  assert.deepEqual(embeddedPids(folder), { postgres: [], anvil: [] });
}

/** The process ids of the parts that a service started: one database server and two chains. */
function childServersOf(folder: string) {
  const pids = embeddedPids(folder);
  assert.equal(pids.postgres.length, 1, JSON.stringify(pids));
  assert.equal(pids.anvil.length, 2, JSON.stringify(pids));
  return pids;
}

async function assertReady(from: Service): Promise<void> {
  const answer = await send(from.url, 'GET', '/readyz');
  assert.equal(answer.status, 200, answer.text);
}

/** The balance of the demo merchant's wallet on the test chain. */
async function balance(): Promise<bigint> {
  const merchant = demoOf(dataDir).merchant;
  const answer = await send(service.url, 'GET', `/api/v1/accounts/${merchant}`, { key: demoOf(dataDir).test_key });
  return usdcBalance(testChainOf(dataDir), answer.json.wallet_address as string);
}

let first: ApiJson;

test('an empty data folder → ready, no warnings, and the printed curl works when pasted', async () => {
  service = await startService(home);
  await assertReady(service);
  assert.equal(service.stderr(), '');
  // A busy machine makes some statement wait, which the service says.
  const told = service.stdout().replace(/^\{.*"a statement was slow".*\n/gm, '');
  assert.match(told, /^\n {2}Quittance is ready at http:\/\/localhost:\d+\n/);
  assert.doesNotMatch(told, /warn|deprecat|experimental|"level"/i);
  childServersOf(dataDir);
  first = await pasteCurl(service);
  assert.equal(first.ok, true);
  assert.equal(first.amount.fiat_int, 1250);
  const { test_key, live_key, merchant, incomplete_merchant } = demoOf(dataDir);
  for (const shown of [test_key, live_key, merchant, incomplete_merchant]) assert.ok(service.stdout().includes(shown));
  const shell = await send(service.url, 'GET', `/api/v1/accounts/${incomplete_merchant}`, { key: test_key });
  assert.equal(shell.json.onboarding_status, 'incomplete');
  assert.equal((await send(service.url, 'GET', '/api/v1/requests', { key: live_key })).status, 200);
});

test('a second service on the same data folder → refused in a sentence, the first undisturbed', async () => {
  const before = childServersOf(dataDir);
  const files = ['secret-keys', 'postgres.json', 'chains.json', 'demo.json', 'service.pid'];
  const content = () => files.map((file) => readFileSync(join(dataDir, file), 'utf8'));
  const kept = content();
  const ended = await runService({ DATA_DIR: dataDir });
  assert.deepEqual(ended, {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `Quittance cannot start. Another service (process ${service.pid}) uses ${dataDir}. Stop it, or set another DATA_DIR.\n`,
  });
  assert.deepEqual(childServersOf(dataDir), before);
  assert.deepEqual(content(), kept);
  await assertReady(service);
  assert.equal((await read(service, first.request_id)).request_id, first.request_id);
});

test('a port in use → a sentence and exit code 1, nothing left running; two data folders at once otherwise', async () => {
  const other = dataFolder();
  const port = new URL(service.url).port;
  const ended = await runService({ DATA_DIR: other, PORT: port });
  assert.deepEqual(ended, {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `Quittance cannot start. Port ${port} of 127.0.0.1 is in use. Stop the program that uses it, or set another PORT.\n`,
  });
  assertNothingRuns(other);

  const neighbour = await startService({ DATA_DIR: other });
  await Promise.all([assertReady(neighbour), assertReady(service)]);
  const foreign = await send(neighbour.url, 'GET', '/api/v1/requests', { key: demoOf(dataDir).test_key });
  assert.equal(foreign.status, 401);
  assert.equal((await pasteCurl(neighbour)).ok, true);
  assert.deepEqual((await neighbour.stop()).code, 0);
  assertNothingRuns(other);
  await assertReady(service);
});

test('a payment, then SIGTERM → all ends; started again, requests, balances and demo keys are the same', async () => {
  await cli(dataDir, 'sandbox', 'pay', first.request_id);
  const paid = await verified(first.request_id);
  const [balanceBefore, demo] = [await balance(), demoOf(dataDir)];
  assert.equal(balanceBefore, BigInt(paid.amount.usdc_micro));
  const ended = await service.stop();
  assert.deepEqual([ended.code, ended.stderr], [0, '']);
  assertNothingRuns(dataDir);

  service = await startService(home);
  await assertReady(service);
  assert.deepEqual(demoOf(dataDir), demo);
  assert.ok(service.stdout().includes(demo.test_key));
  assert.deepEqual(await read(service, first.request_id), paid);
  assert.equal(await balance(), balanceBefore);
});

test('SIGKILL of the service → the next start adopts what it left, and verifies the payment mined just before', async () => {
  const request = await pasteCurl(service);
  const left = childServersOf(dataDir);
  await cli(dataDir, 'sandbox', 'pay', request.request_id);
  await service.stop('SIGKILL');
  assert.deepEqual(childServersOf(dataDir), left);

  service = await startService(home);
  assert.equal(service.stderr(), '');
  assert.deepEqual(childServersOf(dataDir), left);
  assert.equal((await verified(request.request_id)).proof_status, 'verified');
  assert.equal((await read(service, first.request_id)).proof_status, 'verified');
  assert.deepEqual((await service.stop()).code, 0);
  assertNothingRuns(dataDir);
});

/** Waits until the chain's state file holds its newest block. */
async function chainSaved(): Promise<void> {
  const head = await headNumber(testChainOf(dataDir));
  const savedHead = () => {
    const text = readFileSync(join(dataDir, 'chains/test.json'), 'utf8');
    return Number(/"best_block_number":"?(0x[0-9a-f]+|\d+)/.exec(text)?.[1]);
  };
  await until(() => savedHead() >= head, 'the chain to be saved');
}

test('SIGKILL of service, database and chains at once → started again, everything that was saved is there', async () => {
  service = await startService(home);
  const request = await pasteCurl(service);
  await cli(dataDir, 'sandbox', 'pay', request.request_id);
  await verified(request.request_id);
  await chainSaved();
  const before = await balance();
  const { postgres, anvil } = childServersOf(dataDir);
  for (const pid of [service.pid, ...postgres, ...anvil]) signalProcess(pid, 'SIGKILL');
  await service.ended;

  service = await startService(home);
  assert.equal(service.stderr(), '');
  await assertReady(service);
  assert.equal(await balance(), before);
  for (const { request_id } of [first, request]) {
    assert.equal((await read(service, request_id)).proof_status, 'verified');
  }
});

test('SIGKILL of service and chains right after a payment → the chain forgets it at most, and the request can be paid', async () => {
  const request = await pasteCurl(service);
  const { anvil } = childServersOf(dataDir);
  await cli(dataDir, 'sandbox', 'pay', request.request_id);
  for (const pid of [service.pid, ...anvil]) signalProcess(pid, 'SIGKILL');
  await service.ended;

  service = await startService(home);
  await assertReady(service);
  await cli(dataDir, 'sandbox', 'pay', request.request_id);
  assert.equal((await verified(request.request_id)).proof_status, 'verified');
});

test('two signals in a row, as npm and a terminal send them → still a clean end', async () => {
  signalProcess(service.pid, 'SIGINT');
  signalProcess(service.pid, 'SIGINT');
  assert.deepEqual((await service.stop('SIGHUP')).code, 0);
  assertNothingRuns(dataDir);
});

test('npm start, ended by Ctrl-C in its terminal → nothing left running', async () => {
  const npm = await startService(home, { command: ['npm', 'start', '--silent'] });
  await assertReady(npm);
  assert.equal(npm.stderr(), '');
  process.kill(-npm.pid, 'SIGINT'); // the whole group, as a terminal does
  await npm.ended;
  await until(() => Object.values(embeddedPids(dataDir)).flat().length === 0, 'the embedded parts to end');
});

test('a crash at any point of the first start, and numbers of processes used again → the next start completes it', async () => {
  const folder = dataFolder();
  for (const waitMs of [400, 1200, 2000]) {
    await crashService({ DATA_DIR: folder, PORT: String(await freePort()) }, waitMs);
  }
  const completed = await startService({ DATA_DIR: folder });
  assert.equal(completed.stderr(), '');
  assert.equal((await pasteCurl(completed)).ok, true);
  await assertNumbersUsedAgain(folder, completed);
});

/** After a crash, recorded process ids may belong to other programs: these are left alone. */
async function assertNumbersUsedAgain(folder: string, one: Service): Promise<void> {
  const { postgres, anvil } = childServersOf(folder);
  for (const pid of [one.pid, ...postgres, ...anvil]) signalProcess(pid, 'SIGKILL');
  await one.ended;
  await until(() => Object.values(embeddedPids(folder)).flat().length === 0, 'the parts to end');
  writeFileSync(join(folder, 'service.pid'), `${process.pid} 12`);
  const pidFile = join(folder, 'postgres/postmaster.pid');
  writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(process.pid)));
  const again = await startService({ DATA_DIR: folder });
  assert.equal((await pasteCurl(again)).ok, true);
  assert.deepEqual((await again.stop()).code, 0);
  assertNothingRuns(folder);
}

test('faults of the configuration → all at once, exit code 1', async () => {
  const env = {
    PORT: 'x',
    BASE_URL: 'ftp://a',
    LOG_LEVEL: 'loud',
    RATE_PROVIDERS: 'nobody',
    DATABASE_URL: 'mysql://a',
  };
  const ended = await runService({ DATA_DIR: dataFolder(), CHAINS_FILE: '/nonexistent', ...env });
  assert.deepEqual([ended.code, ended.stdout], [1, '']);
  assert.match(ended.stderr, /^Quittance cannot start. The configuration is invalid:\n( {2}- .+\n){6}$/);
  for (const name of [...Object.keys(env), 'CHAINS_FILE']) assert.ok(ended.stderr.includes(`  - ${name}`), name);
});

test('production without secrets and chains → refused, naming all', async () => {
  const ended = await runService({ DATA_DIR: dataFolder(), NODE_ENV: 'production' });
  assert.deepEqual([ended.code, ended.stdout], [1, '']);
  for (const name of ['BASE_URL', 'SECRET_KEYS', 'CHAINS_FILE'])
    assert.match(ended.stderr, new RegExp(`- ${name} is required`));
});

test('an address for the world without a word of production → no sandbox: refused, with the way out', async () => {
  const env = { BASE_URL: 'https://pay.example', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@pay.example' };
  const ended = await runService({ DATA_DIR: dataFolder(), ...env });
  assert.deepEqual([ended.code, ended.stdout], [1, '']);
  assert.match(
    ended.stderr,
    /not a sandbox, because BASE_URL \(https:\/\/pay\.example\) names another machine.*SANDBOX=on/,
  );
  for (const name of ['SECRET_KEYS', 'CHAINS_FILE']) assert.match(ended.stderr, new RegExp(`- ${name} is required`));
});

test('a database that cannot be reached, a data folder that cannot be made → a sentence without a stack', async () => {
  const folder = dataFolder();
  const away = await runService({ DATA_DIR: folder, DATABASE_URL: 'postgres://a:b@127.0.0.1:9/c' });
  assert.equal(away.code, 1);
  assert.match(
    away.stderr,
    /^Quittance cannot start\. The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*\. Check that the server runs .*\n$/,
  );
  assertNothingRuns(folder);
  writeFileSync(join(folder, 'file'), '');
  const inFile = await runService({ DATA_DIR: join(folder, 'file/data') });
  assert.match(
    inFile.stderr,
    /^Quittance cannot start\. The configuration is invalid:\n {2}- DATA_DIR .* cannot be used: .*\n$/,
  );
});

test('an ordinary user, from another folder → starts', { skip: !isRoot && 'all tests run as one' }, async () => {
  const nobody = 65534;
  const folder = dataFolder(nobody);
  const started = await startService({ DATA_DIR: folder, HOME: folder }, { user: nobody });
  assert.equal(started.stderr(), '');
  assert.equal((await pasteCurl(started)).ok, true);
  assert.equal(statSync(join(folder, 'postgres')).uid, nobody);
  assert.deepEqual((await started.stop()).code, 0);
  assertNothingRuns(folder);
});

test('root, in a folder that only root can enter and whose name has a space → starts', {
  skip: !isRoot && 'not root',
}, async () => {
  const locked = join(dataFolder(), 'only root');
  mkdirSync(locked, { mode: 0o700 });
  const started = await startService({ DATA_DIR: join(locked, 'data') });
  assert.equal(started.stderr(), '');
  await assertReady(started);
  assert.deepEqual((await started.stop()).code, 0);
  assertNothingRuns(join(locked, 'data'));
});

test('root, where user namespaces are off → the database runs as nobody', { skip: !isRoot && 'not root' }, async () => {
  const folder = dataFolder();
  chmodSync(folder, 0o700);
  const programs = dataFolder();
  writeFileSync(join(programs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const shared = join('/var/lib/quittance', Buffer.from(folder).toString('base64url'));
  const env = { DATA_DIR: folder, PATH: `${programs}:${process.env.PATH}` };
  try {
    const started = await startService(env);
    assert.equal(started.stderr(), '');
    const [server = 0] = embeddedPids(shared).postgres;
    assert.match(readFileSync(`/proc/${server}/status`, 'utf8'), /^Uid:\s+65534\s/m);
    const request = await pasteCurl(started);
    await started.stop('SIGKILL');
    const again = await startService(env);
    assert.deepEqual(embeddedPids(shared).postgres, [server]);
    const key = demoOf(folder).test_key;
    assert.equal((await send(again.url, 'GET', `/api/v1/requests/${request.request_id}`, { key })).status, 200);
    assert.deepEqual((await again.stop()).code, 0);
    assert.deepEqual(embeddedPids(shared).postgres, []);
  } finally {
    for (const pid of embeddedPids(shared).postgres) signalProcess(pid, 'SIGKILL');
    rmSync(shared, { recursive: true, force: true });
  }
});
