import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort } from '../../src/lib/ports.ts';
import { nodeFixtures, twoChains } from '../support/nodes.ts';
import { dataFolder, endAll, startService } from '../support/service.ts';

after(endAll);

test('a start in production → only JSON log lines, one of which says that it is ready; neither sandbox nor tracing is loaded', async () => {
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  try {
    const port = String(await freePort());
    const baseUrl = `http://localhost:${port}`;
    const loaded = join(dataFolder(), 'loaded');
    const preload = { NODE_OPTIONS: `--import=${join(import.meta.dirname, '../support/loaded-modules.ts')}` };
    const production = { NODE_ENV: 'production', BASE_URL: baseUrl, PORT: port, RATE_PROVIDERS: 'fixed' };
    const env = { ...fixtures.env, ...production, ...preload, LOADED_MODULES: loaded };
    const service = await startService(env);
    await service.stop();
    const lines = service.stdout().trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const ready = entries.filter(({ msg }) => msg === `Quittance is ready at ${baseUrl}`);
    assert.deepEqual(
      ready.map(({ level, base_url }) => [level, base_url]),
      [[30, baseUrl]],
    );
    const modules = readFileSync(loaded, 'utf8').split('\n');
    assert.ok(modules.some((url) => url.endsWith('/src/http/server.ts')));
    // The metrics library imports OpenTelemetry's API itself, which contains names but no tracing code.
    assert.deepEqual(
      modules.filter((url) => /\/src\/sandbox\/|@opentelemetry\/(?!api\/)/.test(url)),
      [],
    );
  } finally {
    await fixtures.drop();
    await chains.stop();
  }
});

test('a sandbox with a database, chains and secret keys of its own, and no data folder yet → it makes the folder and starts', async () => {
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  try {
    const service = await startService({ ...fixtures.env, DATA_DIR: join(dataFolder(), 'absent') });
    assert.match(service.stdout(), /Test key +qt_test_/);
    await service.stop();
  } finally {
    await fixtures.drop();
    await chains.stop();
  }
});

test('a service → has so many threads that names whose name server hangs do not keep the database from being looked up', async () => {
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  try {
    const service = await startService(fixtures.env);
    const tasks = `/proc/${service.pid}/task`;
    const names = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, 'comm'), 'utf8').trim());
    // Half of them look up names: more than there are rate sources, endpoints of these chains, and the database.
    assert.equal(names.filter((name) => name === 'libuv-worker').length, 32);
    await service.stop();
  } finally {
    await fixtures.drop();
    await chains.stop();
  }
});
