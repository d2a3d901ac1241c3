import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsInBatches, rowsInBatches } from './in-batches.ts';

/** A queue of numbers, read two at a time; `fails` says which cannot be handled, and how. */
function queueOf(numbers: number[], fails: Record<number, Error> = {}, signal = new AbortController().signal) {
  const waiting = new Set(numbers);
  const tried: number[] = [];
  const logged: number[] = [];
  const pass = itemsInBatches(signal, {
    read: async (failed) => [...waiting].filter((one) => !failed.has(String(one))).slice(0, 2),
    keyOf: String,
    handle: async (one) => {
      tried.push(one);
      if (fails[one]) throw fails[one];
      waiting.delete(one);
      return 10;
    },
    logFailure: (_error, one) => logged.push(one),
  });
  return { pass, tried, logged };
}

test('two of five fail → the others are handled in the same pass, and each failure is tried and logged once', async () => {
  const { pass, tried, logged } = queueOf([1, 2, 3, 4, 5], { 1: new Error('held'), 2: new Error('held') });
  assert.equal(await pass, 30);
  assert.deepEqual(
    [tried, logged],
    [
      [1, 2, 3, 4, 5],
      [1, 2],
    ],
  );
});

test('the database cannot be reached → the pass fails at once, and logs nothing of its own', async () => {
  const lost = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const { pass, tried, logged } = queueOf([1, 2, 3], { 1: lost });
  await assert.rejects(pass, lost);
  assert.deepEqual([tried, logged], [[1], []]);
});

test('the signal aborts → nothing is handled any more', async () => {
  const { pass, tried } = queueOf([1, 2], {}, AbortSignal.abort());
  assert.equal(await pass, 0);
  assert.deepEqual(tried, []);
});

/** Handles rows three at a time, and aborts in the given batch. */
function handleRows(waiting: number, abortIn = Number.POSITIVE_INFINITY) {
  const ending = new AbortController();
  let left = waiting;
  let batch = 0;
  return rowsInBatches(ending.signal, 3, async () => {
    if (++batch === abortIn) ending.abort();
    const count = Math.min(3, left);
    left -= count;
    return count;
  });
}

test('rows are handled until a batch is not full, until the signal aborts, and at most a hundred batches in a pass', async () => {
  assert.equal(await handleRows(7), 7);
  assert.equal(await handleRows(7, 2), 6);
  assert.equal(await handleRows(1000), 300);
});
