import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { secretsText, setRate } from '../support/fixtures.ts';
import { dataFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
  await setRate(database.db, 'EUR', '0.92');
});
after(() => database.drop());

/** Runs a command whose output goes to a file, or to a reader that has gone. */
async function quittance(file: string | null, ...words: string[]): Promise<{ code: number | null; stderr: string }> {
  const output = file === null ? null : openSync(file, 'w');
  const env = { ...process.env, DATA_DIR: dataFolder(), DATABASE_URL: database.url, SECRET_KEYS: secretsText };
  const child = spawn(script, words, { env, stdio: ['ignore', output ?? 'pipe', 'pipe'] });
  child.stdout?.destroy();
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (output !== null) closeSync(output);
  return { code, stderr };
}

test('output that nobody reads any more, as of `| head -1` › the command does its work without a word', async () => {
  assert.deepEqual(await quittance(null, '--help'), { code: 0, stderr: '' });
  assert.deepEqual(await quittance(null, 'partner', 'create', 'unread', '--name', 'N', '--currency', 'EUR'), {
    code: 0,
    stderr: '',
  });
  assert.equal((await database.db.sql`select from partners where slug = 'unread'`).length, 1);
});

test('output onto a full disk › a sentence and exit code 1', async () => {
  const { code, stderr } = await quittance('/dev/full', 'rate', 'list');
  assert.equal(code, 1);
  assert.match(stderr, /^The command has ended, but its answer could not be written: ENOSPC[^\n]*\.\n$/);
});
