import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchesOf } from './paging.ts';

const listOf = (count: number) => async (after: string | null, limit: number) => {
  const from = Number(after ?? 0);
  return Array.from({ length: Math.min(limit, count - from) }, (_, n) => from + n + 1);
};

async function countRows(count: number): Promise<number> {
  let rows = 0;
  for await (const batch of batchesOf(listOf(count), String)) rows += batch.length;
  return rows;
}

test('an export has all rows of a list, in batches', async () => {
  for (const count of [0, 499, 500, 501, 2_000_000]) assert.equal(await countRows(count), count);
});

test('an export of more rows than it may have › fails instead of looking complete', async () => {
  await assert.rejects(countRows(2_000_001), /more than 2000000 rows/);
});
