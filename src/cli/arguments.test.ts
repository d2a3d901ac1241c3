import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestCommand, readArguments, splitTyped } from './arguments.ts';
import { UsageFault } from './command.ts';

const pay = { name: 'sandbox pay', usage: '<request_id> [--usdc-micro N] [--private-key 0x…] [--untagged]' };
const read = (command: Parameters<typeof readArguments>[0], ...argv: string[]) =>
  readArguments(command, splitTyped(argv));
const refuses = (sentence: RegExp, ...argv: string[]) =>
  assert.throws(
    () => read(pay, ...argv),
    (error) => error instanceof UsageFault && sentence.test(error.message),
  );

test('arguments › words and options are read as the usage names them', () => {
  const expected = { words: ['r1'], options: { 'usdc-micro': '5', untagged: true } };
  assert.deepEqual({ ...read(pay, 'sandbox', 'pay', 'r1', '--usdc-micro', '5', '--untagged') }, expected);
  assert.deepEqual({ ...read(pay, 'sandbox', 'pay', '--untagged', 'r1', '--usdc-micro=5') }, expected);
});

test('arguments › --json may come before the command', () => {
  assert.deepEqual(read(pay, '--json', 'sandbox', 'pay', 'r1'), { words: ['r1'], options: { json: true } });
});

test('arguments › an unknown option is refused, with the closest one', () => {
  refuses(/^There is no option --wat\.$/, 'sandbox', 'pay', 'r1', '--wat');
  refuses(/^There is no option --foo\.$/, 'sandbox', 'pay', 'r1', '--foo');
  refuses(/^There is no option --jsn\. Did you mean --json\?$/, 'sandbox', 'pay', 'r1', '--jsn');
  refuses(/^There is no option --untaged\. Did you mean --untagged\?$/, 'sandbox', 'pay', 'r1', '--untaged');
  refuses(/^There is no option -u\./, 'sandbox', 'pay', 'r1', '-u');
});

test('arguments › a missing value, a value too many and a word too many are refused', () => {
  refuses(/^--usdc-micro needs a value\.$/, 'sandbox', 'pay', 'r1', '--usdc-micro');
  refuses(/^--usdc-micro needs a value\.$/, 'sandbox', 'pay', 'r1', '--usdc-micro', '--untagged');
  refuses(/^--untagged takes no value\.$/, 'sandbox', 'pay', 'r1', '--untagged=yes');
  refuses(/^Unexpected argument "r2"\.$/, 'sandbox', 'pay', 'r1', 'r2');
});

test('arguments › an option that is given twice is refused, wherever it stands', () => {
  refuses(/^--usdc-micro was given twice\.$/, 'sandbox', 'pay', 'r1', '--usdc-micro', '5', '--usdc-micro=6');
  refuses(/^--untagged was given twice\.$/, 'sandbox', 'pay', '--untagged', 'r1', '--untagged');
  refuses(/^--json was given twice\.$/, '--json', 'sandbox', 'pay', 'r1', '--json');
});

test('arguments › words in angle brackets that an option takes are no words of the command', () => {
  const replay = { name: 'webhook replay', usage: '<delivery_id>  |  --partner <slug> --mode test|live --since <at>' };
  const { options } = read(replay, 'webhook', 'replay', '--partner', 'demo', '--mode', 'test', '--since', '2026-01-01');
  assert.deepEqual(options, { partner: 'demo', mode: 'test', since: '2026-01-01' });
});

test('arguments › the closest command is found among names of several words', () => {
  const names = ['webhook set', 'webhook rotate', 'sandbox pay', 'doctor'];
  assert.equal(closestCommand(names, ['sandbx', 'pay', 'r1']), 'sandbox pay');
  assert.equal(closestCommand(names, ['doktor']), 'doctor');
  assert.equal(closestCommand(names, ['something', 'else']), undefined);
});
