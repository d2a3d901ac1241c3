import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { freePort } from '../../src/lib/ports.ts';
import { nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, startService } from '../support/service.ts';

after(endAll);

test('a start in production → standard output holds JSON log lines only, one of which says that it is ready', async () => {
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  try {
    const port = String(await freePort());
    const baseUrl = `http://localhost:${port}`;
    const env = { ...fixtures.env, NODE_ENV: 'production', BASE_URL: baseUrl, PORT: port, RATE_PROVIDERS: 'fixed' };
    const service = await startService(env);
    await service.stop();
    const lines = service.stdout().trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const ready = entries.filter(({ msg }) => msg === `Quittance is ready at ${baseUrl}`);
    assert.deepEqual(
      ready.map(({ level, base_url }) => [level, base_url]),
      [[30, baseUrl]],
    );
  } finally {
    await fixtures.drop();
    await chains.stop();
  }
});
