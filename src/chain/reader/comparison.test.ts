import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Comparison,
  digestOf,
  discardAfter,
  newComparison,
  nextReported,
  noteCompared,
  noteRead,
  type Range,
} from './comparison.ts';

const [one, other] = ['https://one.example', 'https://other.example'];

/** All ranges that an endpoint has answered for. */
function toldBy(comparison: Comparison, url: string | null, last: number): Range[] {
  const all: Range[] = [];
  for (let after = 0; ; ) {
    const range = nextReported(comparison, url, after, last);
    if (!range) return all;
    all.push(range);
    after = range.to;
  }
}

test('blocks reported by several endpoints, by an unknown one, and already compared → each endpoint has its own, in order', () => {
  const comparison = newComparison();
  comparison.upTo = 0;
  for (const number of [3, 4, 8, 9]) noteRead(comparison, number, [], { url: one });
  for (const number of [6, 5, 12]) noteRead(comparison, number, [], { url: other });
  noteCompared(comparison, { from: 9, to: 10 });
  assert.deepEqual(toldBy(comparison, one, 11), [
    { from: 3, to: 4 },
    { from: 8, to: 8 },
  ]);
  assert.deepEqual(toldBy(comparison, other, 11), [{ from: 5, to: 6 }]);
  assert.deepEqual(toldBy(comparison, null, 11), [
    { from: 1, to: 2 },
    { from: 7, to: 7 },
    { from: 11, to: 11 },
  ]);
});

test('blocks compared with a gap → all before it are done; once it is filled, all are', () => {
  const comparison = newComparison();
  noteCompared(comparison, { from: 5, to: 6 });
  assert.equal(comparison.upTo, 6, 'the comparison began with block 5');
  noteCompared(comparison, { from: 9, to: 10 });
  assert.deepEqual([comparison.upTo, [...comparison.beyond]], [6, [9, 10]]);
  noteRead(comparison, 7, [], { url: one });
  noteCompared(comparison, { from: 7, to: 8 });
  assert.deepEqual([comparison.upTo, comparison.beyond.size, comparison.read.size], [10, 0, 0]);
});

test('a reorganisation → later blocks are read and compared again, and no earlier ones', () => {
  const comparison = newComparison();
  comparison.upTo = 5;
  noteCompared(comparison, { from: 8, to: 9 });
  for (const number of [6, 7, 9, 10]) noteRead(comparison, number, [], { url: one });
  discardAfter(comparison, 8);
  assert.deepEqual(
    [comparison.upTo, [...comparison.beyond], [...comparison.read.keys()], comparison.rewinds],
    [5, [8], [6, 7], 1],
  );
  discardAfter(comparison, 3);
  assert.deepEqual([comparison.upTo, comparison.beyond.size, comparison.read.size], [3, 0, 0]);
  assert.deepEqual(nextReported(comparison, null, 3, 4), { from: 4, to: 4 });
});

test('a reorganisation before anything was compared → nothing is taken for compared', () => {
  const comparison = newComparison();
  discardAfter(comparison, 3);
  assert.equal(comparison.upTo, null);
});

test('the digest of a block’s logs differs with everything that decides whom they pay', () => {
  const log = {
    ...{ address: '0xa', topics: ['0x1', '0x2'], data: '0x3', blockHash: '0x4', blockNumber: 7 },
    ...{ txHash: '0x5', logIndex: 0 },
  };
  const others = [{ address: '0xb' }, { topics: ['0x1', '0x3'] }, { data: '0x4' }, { txHash: '0x6' }, { logIndex: 1 }];
  const digests = [log, ...others.map((other) => ({ ...log, ...other }))].map((one) => digestOf([one]));
  assert.equal(new Set([...digests, digestOf([]), digestOf([log, log])]).size, 8);
  assert.equal(digestOf([{ ...log }]), digests[0]);
});

test('ten million blocks wait because no endpoint can be asked → a look-up visits few of them', () => {
  const comparison = newComparison();
  comparison.upTo = 0;
  const last = 10_000_000;
  for (let number = last - 9_999; number <= last; number++) noteRead(comparison, number, [], { url: one });
  let looked = 0;
  const { read } = comparison;
  const get = read.get.bind(read);
  read.get = (number) => {
    looked++;
    return get(number);
  };
  assert.deepEqual(nextReported(comparison, one, 0, last), { from: last - 4_999, to: last - 3_000 });
  assert.deepEqual(nextReported(comparison, null, 0, last), { from: 1, to: 2_000 });
  assert.equal(nextReported(comparison, other, 0, last), null);
  assert.ok(looked < 10_000, `${looked} blocks were looked at`);
});
