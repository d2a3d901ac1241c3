import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type FaultyDatabase, startDatabase } from '../faults/database.ts';
import { secretsText } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
let database: FaultyDatabase;
before(async () => {
  database = await startDatabase();
});
after(() => database.end());

/** What `doctor`, which has sent no statement before, says of the database and its disk. */
function diagnose(): Promise<{ check: string; state: string; advice: string }[]> {
  const env = { ...process.env, SECRET_KEYS: secretsText, DATABASE_URL: database.url, DATA_DIR: dataFolder() };
  return new Promise((resolve, reject) => {
    execFile(script, ['doctor', '--json'], { env, timeout: patienceMs }, (_error, stdout, stderr) => {
      if (stderr) return reject(new Error(stderr));
      resolve(JSON.parse(stdout).findings);
    });
  });
}

test('doctor while a disk of the database is full → says so, and still checks the rest', async (t) => {
  if (!database.canFill) return t.skip('no disk can be mounted here');
  const disk = async () => (await diagnose()).find(({ check }) => check === 'disk of the database');
  assert.equal((await disk())?.state, 'ok');
  await database.fill(false);
  const findings = await diagnose();
  const { state, advice } = findings.find(({ check }) => check === 'disk of the database') ?? {};
  assert.equal(state, 'failed');
  assert.match(advice ?? '', /^A disk of the database server is full, .* Make room there/);
  assert.equal(findings.find(({ check }) => check === 'migrations')?.state, 'ok');
  database.empty();
  assert.equal((await disk())?.state, 'ok');
});
