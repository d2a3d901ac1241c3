import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUntilFull } from './read-until-full.ts';

/** A list of numbers from 1 on, and what was read of it. */
function listOf(count: number) {
  const parts: [from: number, limit: number][] = [];
  const read = async (last: number | undefined, limit: number) => {
    const from = (last ?? 0) + 1;
    parts.push([from, limit]);
    return Array.from({ length: Math.max(0, Math.min(limit, count - from + 1)) }, (_, n) => from + n);
  };
  return { parts, read };
}

test('all of a list are wanted → a page is read at once, and no more', async () => {
  const { parts, read } = listOf(1_000);
  assert.deepEqual(await readUntilFull(3, read, () => true), [1, 2, 3]);
  assert.deepEqual(parts, [[1, 3]]);
});

test('some are not wanted → others follow from where the first ended, each once, and the page is full', async () => {
  const { parts, read } = listOf(1_000);
  assert.deepEqual(await readUntilFull(4, read, (n) => n % 3 === 0), [3, 6, 9, 12]);
  assert.deepEqual(parts, [
    [1, 4],
    [5, 8],
  ]);
});

test('hardly any is wanted → read to the end, a thousand at once at most', async () => {
  const { parts, read } = listOf(5_000);
  assert.deepEqual(
    await readUntilFull(50, read, (n) => n > 4_990),
    [4991, 4992, 4993, 4994, 4995, 4996, 4997, 4998, 4999, 5000],
  );
  assert.equal(Math.max(...parts.map(([, limit]) => limit)), 1_000);
  assert.ok(parts.length < 12);
});

test('a batch of an export that is larger than these parts → is never made smaller', async () => {
  const { parts, read } = listOf(10_000);
  await readUntilFull(2_000, read, (n) => n % 2 === 0);
  assert.deepEqual(
    parts.map(([, limit]) => limit),
    [2_000, 2_000],
  );
});
