import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { send } from '../support/api/client.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, startService } from '../support/service.ts';

const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit';

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

test('a node that may open no more files, so no connection to its database → 503, and it works again by itself', {
  skip,
}, async () => {
  const service = await startService(fixtures.env);
  const limitFiles = (soft: string) => execFileSync('prlimit', [`--pid=${service.pid}`, `--nofile=${soft}:`]);
  // The pages have opened no connection yet.
  const status = async () => (await send(service.url, 'GET', `/pay/${randomUUID()}/state`)).status;
  assert.equal((await send(service.url, 'GET', '/healthz')).status, 200, 'this connection is kept for the next calls');
  const usual = execFileSync('prlimit', [`--pid=${service.pid}`, '--nofile', '--noheadings', '--output=SOFT']);
  limitFiles('10');
  assert.equal(await status(), 503);
  limitFiles(String(usual).trim());
  assert.equal(await status(), 404);
  assert.equal((await service.stop()).code, 0);
});
