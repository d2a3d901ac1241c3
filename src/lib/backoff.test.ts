import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from './backoff.ts';

test('failures in a row → each wait is twice the one before, up to the longest', () => {
  const waits = [1, 2, 3, 6, 7, 40].map((failures) => backoffMs(failures, { firstMs: 60, maxMs: 3_600 }));
  assert.deepEqual(waits, [60, 120, 240, 1_920, 3_600, 3_600]);
});

test('so many failures that the doubling leaves the range of numbers → the longest wait', () => {
  assert.equal(backoffMs(1_000_000, { firstMs: 1, maxMs: 3_600 }), 3_600);
});
