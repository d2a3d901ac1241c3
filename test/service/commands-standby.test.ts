import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openOwner } from '../../src/db/connection.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { secretsText, testSecrets } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder, endAll } from '../support/service.ts';
import { type Cluster, startCluster } from '../support/standby.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
let cluster: Cluster;
before(async () => {
  cluster = await startCluster(async (url) => {
    const owner = openOwner(url);
    await migrate(owner);
    await ensureLogins(owner, testSecrets);
    await owner.end();
  });
});
after(async () => {
  await cluster?.stop();
  await endAll();
});

function quittance(url: string, ...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, SECRET_KEYS: secretsText, DATABASE_URL: url, DATA_DIR: dataFolder() };
  return new Promise((resolve) => {
    execFile(script, words, { env, timeout: patienceMs }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

test('DATABASE_URL leads to a standby → doctor fails and says so, and a command that writes names the primary as the way out', async () => {
  const found = async (url: string) => {
    const { findings } = JSON.parse((await quittance(url, 'doctor', '--json')).stdout);
    return findings.find(({ check }: { check: string }) => check === 'database')?.advice;
  };
  assert.equal(await found(cluster.primary.url), undefined);
  assert.match(
    await found(cluster.standby.url),
    /^The database accepts no changes, .* Name the primary in DATABASE_URL/,
  );
  const { code, stderr } = await quittance(cluster.standby.url, 'rate', 'set', 'EUR', '0.9');
  assert.equal(code, 1);
  assert.match(stderr, /read-only transaction\. It is a standby, or read-only: name the primary in DATABASE_URL/);
});
