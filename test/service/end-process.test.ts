import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { endProcess } from '../../src/lib/processes.ts';
import { patienceMs } from '../support/patience.ts';

async function start(program: string): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', `${program}; setInterval(() => {}, 1e6); console.log('ready')`]);
  await once(child.stdout, 'data');
  return child as typeof child & { pid: number };
}
const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;
const signals = { ask: 'SIGTERM', force: 'SIGKILL' } as const;

test('a process that heeds the first signal → gone by it', async () => {
  const child = await start('');
  const ending = { runs: () => isAlive(child), ...signals, forceAfterMs: patienceMs, giveUpAfterMs: patienceMs };
  await endProcess(child.pid, ending);
  assert.equal(child.signalCode, 'SIGTERM');
});

test('a process that does not → gone by the second', async () => {
  const child = await start("process.on('SIGTERM', () => {})");
  await endProcess(child.pid, { runs: () => isAlive(child), ...signals, forceAfterMs: 0, giveUpAfterMs: patienceMs });
  assert.equal(child.signalCode, 'SIGKILL');
});

test('looks at the process that take long → the wait is no longer than said for that', async () => {
  const child = await start('');
  child.kill('SIGKILL');
  await once(child, 'exit');
  let looks = 0;
  const runs = () => {
    looks++;
    for (const until = performance.now() + 100; performance.now() < until; );
    return true;
  };
  await endProcess(child.pid, { runs, ...signals, forceAfterMs: 100, giveUpAfterMs: 100 });
  assert.equal(looks, 3, 'one before each signal, and one at the end');
});
