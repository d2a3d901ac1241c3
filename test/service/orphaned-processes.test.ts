import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { beginningOf } from '../../src/lib/processes.ts';
import { dataFolder, endAll } from '../support/service.ts';
import { until } from '../support/until.ts';

after(endAll);

const helper = join(import.meta.dirname, '../support/end-when-orphaned.ts');
/** Starts a program that would run on by itself, as the servers of a test run do, and says its number. */
const starts = `
  const { spawn } = await import('node:child_process');
  const { endWhenOrphaned } = await import(${JSON.stringify(helper)});
  const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  endWhenOrphaned(child.pid, 'TERM', process.argv[1]);
  console.log(child.pid);
  setInterval(() => {}, 1000);`;

test('a test process is killed hard → what it started ends, and its folder is removed', async () => {
  const folder = dataFolder();
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', starts, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(String(line));
  assert.ok(beginningOf(pid) && existsSync(folder));
  parent.kill('SIGKILL');
  await until(() => beginningOf(pid) === null && !existsSync(folder), 'the program to end');
});
