import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Header, Log } from '../rpc.ts';
import {
  checkLinked,
  checkLogs,
  lacksAnnounced,
  nextRange,
  paidBy,
  topicOf,
  transferOf,
  transferTopic,
} from './blocks.ts';
import { bloomOf } from './bloom.ts';

const word = (value: number | bigint) => value.toString(16).padStart(64, '0');
const token = `0x${'a1'.repeat(20)}`;
const other = `0x${'b2'.repeat(20)}`;

function log(changes: Partial<Log> = {}): Log {
  return {
    address: token,
    topics: [transferTopic, `0x${word(1)}`, `0x${word(2)}`],
    data: `0x${word(5)}`,
    blockHash: `0x${word(70)}`,
    blockNumber: 7,
    txHash: `0x${word(9)}`,
    logIndex: 0,
    ...changes,
  };
}

function header(number: number, logs: Log[] = []): Header {
  return {
    number,
    hash: `0x${word(number * 10)}`,
    parentHash: `0x${word((number - 1) * 10)}`,
    time: new Date(0),
    logsBloom: bloomOf(logs),
    transactionCount: logs.length,
  };
}

test('a Transfer log is read; a log of an ERC-721 transfer, of another event or without an amount is ignored', () => {
  assert.deepEqual(transferOf(log()), {
    from: `0x${'1'.padStart(40, '0')}`,
    to: `0x${'2'.padStart(40, '0')}`,
    value: 5n,
  });
  assert.equal(transferOf(log({ topics: [...log().topics, `0x${word(3)}`] })), null);
  assert.equal(transferOf(log({ topics: [`0x${word(4)}`, `0x${word(1)}`, `0x${word(2)}`] })), null);
  assert.equal(transferOf(log({ data: '0x' })), null);
});

test('a Transfer log of more than any token has is ignored: refunds and sums of it could not be stored', () => {
  const most = 2n ** 128n - 1n;
  assert.equal(transferOf(log({ data: `0x${word(most)}` }))?.value, most);
  for (const value of [most + 1n, 2n ** 256n - 1n]) assert.equal(transferOf(log({ data: `0x${word(value)}` })), null);
});

test('paidBy › the recipient, but of nothing that moves nothing', () => {
  const shop = `0x${'2'.padStart(40, '0')}`;
  assert.equal(topicOf(shop), `0x${word(2)}`);
  assert.equal(paidBy(log()), shop);
  assert.equal(paidBy(log({ data: `0x${word(1)}` })), shop);
  assert.equal(paidBy(log({ data: `0x${word(0)}` })), null);
  assert.equal(paidBy(log({ topics: [transferTopic, `0x${word(2)}`, `0x${word(2)}`] })), null);
  assert.equal(paidBy(log({ data: '0x' })), null);
});

test('checkLogs › logs of another block, token or event, out of order or twice → refused', () => {
  checkLogs(header(7), [log(), log({ logIndex: 3 })], [token]);
  const wrong = [{ blockHash: `0x${word(71)}` }, { blockNumber: 8 }, { address: other }, { topics: [`0x${word(1)}`] }];
  for (const changes of wrong) assert.throws(() => checkLogs(header(7), [log(changes)], [token]));
  assert.throws(() => checkLogs(header(7), [log(), log()], [token]));
});

test('an answer without logs of a token is doubted exactly when the filter has the token and the event', () => {
  const full = header(7, [log()]);
  assert.equal(lacksAnnounced(full, [], [token]), true);
  assert.equal(lacksAnnounced(full, [log()], [token]), false);
  assert.equal(lacksAnnounced(full, [], [other]), false);
  assert.equal(lacksAnnounced(header(7), [], [token]), false);
  assert.equal(lacksAnnounced(full, [log()], [token, other]), false);
  assert.equal(lacksAnnounced(full, [], [other, token]), true);
});

test('checkLinked › headers with a gap, a wrong number or another parent → refused', () => {
  checkLinked([header(7), header(8), header(9)], 7);
  assert.throws(() => checkLinked([header(7), header(9)], 7));
  assert.throws(() => checkLinked([header(8)], 7));
  assert.throws(() => checkLinked([header(7), { ...header(8), parentHash: `0x${word(1)}` }], 7));
});

test('nextRange › a failure → fewer blocks, down to one; a success → more, up to the limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 1_999 }), (range) => {
      assert.ok(nextRange(range, false) < range && nextRange(range, false) >= 1);
      assert.ok(nextRange(range, true) > range && nextRange(range, true) <= 2_000);
    }),
  );
  assert.equal(nextRange(100, false), 50);
  assert.ok(nextRange(100, true) <= 111);
  assert.equal(nextRange(1, false), 1);
  assert.equal(nextRange(2_000, true), 2_000);
});
