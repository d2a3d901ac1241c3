import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createResolve } from './resolve.ts';

/** A name that the system refuses without a query. */
const tooLong = 'n'.repeat(100);

/** How many names the system looks up, before any answer can come: each has a thread, or waits for one. */
async function lookedUp(): Promise<number> {
  for (let i = 0; i < 100; i++) await null;
  return process.getActiveResourcesInfo().filter((name) => name === 'GetAddrInfoReqWrap').length;
}

test('many names that name servers do not know → the system looks up eight at once, and the same name once', async () => {
  const resolve = createResolve(true, () => Promise.reject(new Error('no answer')));
  const ask = (count: number, nameOf: (i: number) => string) =>
    Promise.allSettled(Array.from({ length: count }, (_, i) => resolve(nameOf(i))));
  const same = ask(30, () => tooLong);
  assert.equal(await lookedUp(), 1);
  const different = ask(30, (i) => tooLong + i);
  assert.equal(await lookedUp(), 8);
  for (const { status } of [...(await same), ...(await different)]) assert.equal(status, 'rejected');
});
