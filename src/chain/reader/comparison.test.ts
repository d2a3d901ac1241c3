import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Comparison, newComparison, nextReported, noteCompared, noteRead, type Range } from './comparison.ts';

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
