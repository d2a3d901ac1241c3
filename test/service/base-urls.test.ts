import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addBaseUrl, claimBaseUrl, listBaseUrls } from '../../src/db/base-urls.ts';
import { freePort } from '../../src/lib/ports.ts';
import { StartFault } from '../../src/lib/start-fault.ts';
import { nodeFixtures, twoChains } from '../support/nodes.ts';
import { patienceMs } from '../support/patience.ts';
import { endAll, runService, startService } from '../support/service.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
const original = { baseUrl: 'https://pay.example', sandbox: false };
let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: Awaited<ReturnType<typeof nodeFixtures>>;
before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
});
after(async () => {
  await endAll();
  await fixtures.drop();
  await chains.stop();
});

const origins = async () => (await listBaseUrls(fixtures.db.sql)).map(({ origin }) => origin);

function quittance(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, ...fixtures.env };
  return new Promise((resolve) => {
    execFile(script, words, { env, timeout: patienceMs }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

test('claimBaseUrl › the first public address of a service is noted, those of sandboxes and of this machine are not', async () => {
  const { sql } = fixtures.db;
  await claimBaseUrl(sql, { baseUrl: 'https://sandbox.example', sandbox: true });
  await claimBaseUrl(sql, { baseUrl: 'http://localhost:3000', sandbox: false });
  assert.deepEqual(await origins(), []);
  await addBaseUrl(sql, { baseUrl: 'http://localhost:3000' }, 'http://localhost:4000');
  assert.deepEqual((await origins()).sort(), ['http://localhost:3000', 'http://localhost:4000']);
  await sql`delete from base_urls`;
  await claimBaseUrl(sql, original);
  assert.deepEqual(await origins(), ['https://pay.example']);
  await claimBaseUrl(sql, { ...original, baseUrl: 'https://PAY.example:443' });
  for (const sandbox of [true, false])
    await assert.rejects(claimBaseUrl(sql, { baseUrl: 'https://copy.example', sandbox }), StartFault);
  assert.deepEqual(await origins(), ['https://pay.example']);
});

test('a node on a copy, with another BASE_URL → does not start, in a sandbox neither; doctor says so; base-url add lets it', async () => {
  await claimBaseUrl(fixtures.db.sql, original);
  const port = String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const production = { NODE_ENV: 'production', RATE_PROVIDERS: 'fixed', BASE_URL: baseUrl };
  for (const kind of [{}, production]) {
    const { code, stderr } = await runService({ ...fixtures.env, ...kind, PORT: port });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^Quittance cannot start\\. BASE_URL is ${baseUrl}, .* https://pay\\.example\\.`));
    assert.match(stderr, new RegExp(`start no node on it: .*run quittance base-url add ${baseUrl} first\\.\n$`));
  }
  const { findings } = JSON.parse((await quittance('doctor', '--json')).stdout);
  const found = findings.find(({ check }: { check: string }) => check === 'BASE_URL');
  assert.equal(found.state, 'failed');
  assert.equal((await quittance('base-url', 'add', `${baseUrl}/`)).code, 0);
  const node = await startService({ ...fixtures.env, ...production, PORT: port });
  await node.stop();
  assert.deepEqual(await origins(), ['https://pay.example', baseUrl]);
});

test('base-url remove › the old address goes, the only one stays; base-url add takes nothing but an address', async () => {
  await claimBaseUrl(fixtures.db.sql, original);
  await quittance('base-url', 'add', 'https://next.example');
  for (const origin of await origins())
    if (origin !== 'https://next.example') assert.equal((await quittance('base-url', 'remove', origin)).code, 0);
  const listed = await quittance('base-url', 'list');
  assert.match(listed.stdout, /^ +https:\/\/next\.example +2\d{3}-\S+Z$/m);
  const { code, stderr } = await quittance('base-url', 'remove', 'https://next.example');
  assert.equal(code, 1);
  assert.match(stderr, /The only one stays\.\n$/);
  assert.deepEqual(await origins(), ['https://next.example']);
  for (const typed of ['pay.example', 'https://pay.example/pay', 'https://user@pay.example', 'ftp://pay.example'])
    assert.equal((await quittance('base-url', 'add', typed)).code, 2, typed);
  await assert.rejects(claimBaseUrl(fixtures.db.sql, original), /belongs to the service at https:\/\/next\.example\./);
});
