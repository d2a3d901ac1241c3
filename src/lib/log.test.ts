import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { mock, test } from 'node:test';
import { makeLog } from './log.ts';

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

test('standard output is a pipe that nobody reads for a while → the process works on, and what waits is written later', async () => {
  const program = `
    import { makeLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
    const log = makeLog('info');
    for (let line = 0; line < 20_000; line++) log.info({ line }, 'a line that nobody reads');
    process.stderr.write('works on');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  try {
    const [said] = await once(child.stderr, 'data', { signal: AbortSignal.timeout(60_000) });
    assert.equal(String(said), 'works on');
    setTimeout(() => child.kill('SIGKILL'), 60_000).unref(); // ends the loop below
    let read = 0;
    for await (const chunk of child.stdout) {
      read += chunk.length;
      if (read >= 1_000_000) break; // as much as waits, beside what the pipe held
    }
    assert.ok(read >= 1_000_000);
  } finally {
    child.kill('SIGKILL');
  }
});

test('standard output is a pipe whose reader is gone, as after `| head` → what else is printed there ends nothing', async () => {
  const program = `
    import { makeLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
    const log = makeLog('info');
    process.stdin.once('data', () => {
      process.stdout.write('welcome');
      log.info('a line that nobody reads');
      setTimeout(() => process.stderr.write('works on', () => process.exit()), 10);
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.write('now');
  const [said] = await once(child.stderr, 'data');
  assert.equal(String(said), 'works on');
  await once(child, 'close');
});

/** A log, and the lines that it has written, parsed and as they were. */
function keptLog() {
  const lines: Record<string, unknown>[] = [];
  const texts: string[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    texts.push(String(chunk));
    lines.push(JSON.parse(String(chunk)));
    done();
  };
  return { log: makeLog('info', new Writable({ write })), lines, texts };
}

test('one failure again and again › some lines, then how many were left out; other lines and other failures stay', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { log, lines } = keptLog();
    const fail = (call: number) => log.error({ call, err: new Error(`no answer to call ${call}`) }, 'unavailable');
    for (let call = 0; call < 10_000; call++) fail(call);
    log.error({ err: Object.assign(new Error('full'), { code: '53100' }) }, 'unavailable');
    for (let call = 0; call < 100; call++) log.info({ call }, 'what goes well');
    assert.equal(lines.filter(({ level }) => level === 50).length, 51);
    assert.equal(lines.filter(({ level }) => level === 30).length, 100);
    mock.timers.tick(10_000);
    assert.equal(lines.at(-1)?.left_out, 9_950);
    assert.match(String(lines.at(-1)?.like), /^unavailable Error at /);
    fail(0);
    assert.equal(lines.at(-1)?.msg, 'unavailable');
    mock.timers.tick(10_000);
    assert.equal(lines.at(-1)?.msg, 'unavailable', 'nothing was left out');
  } finally {
    mock.timers.reset();
  }
});

test('failures of more kinds than are counted apart › share one count', () => {
  const { log, lines } = keptLog();
  for (let kind = 0; kind < 2_000; kind++) log.warn(`failure ${kind}`);
  assert.equal(lines.length, 550);
});

test('text that would move a terminal’s cursor or reverse its text › is written as escapes, and keeps its value', () => {
  const { log, lines, texts } = keptLog();
  const hostile = '\u001b[2J \u009b2J \u0085 \u007f \u202e01.5 \u2066 \u2028 é 日本';
  log.error({ name: hostile, err: new Error(hostile) }, hostile);
  const [text = ''] = texts;
  assert.match(text, /^[^\p{Cc}\u202e\u2066\u2028]+\n$/u);
  assert.deepEqual([lines[0]?.msg, lines[0]?.name], [hostile, hostile]);
  assert.ok(text.includes('é 日本'));
});
