import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';

/** A device that is always full. */
const full = '/dev/full';

test('standard output on a full disk → lines are lost, and the process works on', {
  skip: !existsSync(full) && `needs ${full}`,
}, () => {
  const program = `
    import { makeLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
    const log = makeLog('info');
    for (let line = 0; line < 20_000; line++) log.info({ line }, 'a line that finds no room');
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.stderr.write('works on');`;
  const output = openSync(full, 'w');
  try {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', output, 'pipe'],
      encoding: 'utf8',
      timeout: 30_000, // without the answer to an error it hangs for ever
      killSignal: 'SIGKILL',
    });
    assert.deepEqual([status, stderr], [0, 'works on']);
  } finally {
    closeSync(output);
  }
});
