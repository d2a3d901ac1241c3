import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../src/lib/ports.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { within } from '../../src/lib/time.ts';
import { send } from '../support/api/client.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder, embeddedPids, endAll, type Service, startService } from '../support/service.ts';

after(endAll);

const sentences = ({ stderr }: { stderr: string }) => stderr.trim().split('\n');
const nothing = { postgres: [], anvil: [] };

const endOf = ({ ended }: Service) =>
  within(ended, patienceMs, () => new Error('the sandbox did not end, although a part of it did'));

async function isReady(service: Service): Promise<void> {
  const answer = await send(service.url, 'GET', '/readyz');
  assert.equal(answer.status, 200, answer.text);
}

test('the sandbox’s database or chain is killed → the sandbox ends and says so, and the next start goes on', async () => {
  const home = { DATA_DIR: dataFolder(), PORT: String(await freePort()) };
  for (const part of ['postgres', 'anvil'] as const) {
    const service = await startService(home);
    await isReady(service);
    signalProcess(embeddedPids(home.DATA_DIR)[part][0] as number, 'SIGKILL');
    const ended = await endOf(service);
    assert.equal(ended.code, 1, ended.stdout);
    const name = part === 'postgres' ? 'database' : 'local (test|live) chain';
    assert.equal(sentences(ended).length, 1, ended.stderr);
    assert.match(
      ended.stderr,
      new RegExp(
        `^Quittance has stopped. The sandbox’s ${name} \\(process \\d+\\) stopped unexpectedly\\. Nothing is lost.* Run npm start`,
      ),
    );
    assert.deepEqual(embeddedPids(home.DATA_DIR), nothing);
  }
  const again = await startService(home);
  await isReady(again);
  assert.equal((await again.stop()).code, 0);
});

test('a database that a killed sandbox left running is watched too', async () => {
  const home = { DATA_DIR: dataFolder(), PORT: String(await freePort()) };
  await (await startService(home)).stop('SIGKILL');
  const [left] = embeddedPids(home.DATA_DIR).postgres;
  const service = await startService(home);
  assert.deepEqual(embeddedPids(home.DATA_DIR).postgres, [left]);
  signalProcess(left as number, 'SIGKILL');
  assert.match((await endOf(service)).stderr, /The sandbox’s database \(process \d+\) stopped unexpectedly/);
});

test('a service that was ready fails in a way that nobody expects → it says that it stopped, not that it cannot start', async () => {
  const preload = pathToFileURL(join(import.meta.dirname, '../support/broken-loops.ts')).href;
  const home = { DATA_DIR: dataFolder(), NODE_OPTIONS: `--import=${preload}` };
  const service = await startService(home);
  await isReady(service);
  signalProcess(service.pid, 'SIGUSR2');
  const ended = await endOf(service);
  assert.equal(ended.code, 1, ended.stdout);
  assert.match(
    ended.stderr,
    /^Quittance has stopped because of an unexpected error\. Error: a fault that nobody expects\n +at /m,
  );
  assert.doesNotMatch(ended.stderr, /cannot start/);
  assert.deepEqual(embeddedPids(home.DATA_DIR), nothing);
});

test('the data folder is removed from a running sandbox → it ends and says so', async () => {
  const home = { DATA_DIR: join(dataFolder(), 'data'), PORT: String(await freePort()) };
  const service = await startService(home);
  const [server] = embeddedPids(home.DATA_DIR).postgres;
  rmSync(home.DATA_DIR, { recursive: true, maxRetries: 10 });
  signalProcess(server as number, 'SIGKILL'); // by itself it notices within a minute
  const ended = await endOf(service);
  assert.equal(ended.code, 1, ended.stdout);
  assert.match(ended.stderr, /was removed while it ran\. Run npm start to begin afresh\.\n$/);
});
