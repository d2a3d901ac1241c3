import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from './turns.ts';

/** Work that records its name when it begins, and runs until the test ends it. */
function worker(began: string[]) {
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    began.push(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    await promise;
    return name;
  };
  return { work, end: (name: string) => ends.get(name)?.() };
}

test('much work of one key and little of others → one of each runs, and keys take turns', async () => {
  const turns = new Turns(2, 60_000);
  const began: string[] = [];
  const { work, end } = worker(began);
  const taken = ['a1', 'a2', 'a3', 'b1', 'c1', 'd1'].map((name) => turns.take('', name.slice(0, 1), work(name)));
  await new Promise(setImmediate);
  assert.deepEqual(began, ['a1', 'b1']);
  for (const name of ['a1', 'c1', 'd1', 'a2', 'b1', 'a3']) {
    end(name);
    await new Promise(setImmediate);
  }
  assert.deepEqual(began, ['a1', 'b1', 'c1', 'd1', 'a2', 'a3']);
  assert.deepEqual(await Promise.all(taken), ['a1', 'a2', 'a3', 'b1', 'c1', 'd1']);
});

test('a turn that does not come in time → null, and nothing runs; a failed turn makes room', async () => {
  const turns = new Turns(1, 1);
  const began: string[] = [];
  const { work, end } = worker(began);
  const first = turns.take('', 'a', work('a1'));
  assert.equal(await turns.take('', 'a', work('a2')), null);
  assert.equal(await turns.take('', 'b', work('b1')), null);
  end('a1');
  assert.equal(await first, 'a1');
  await assert.rejects(
    turns.take('', 'b', () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await turns.take('', 'b', () => Promise.resolve('b2')), 'b2');
  assert.deepEqual(began, ['a1']);
});

test('much work of many keys of one group → another group’s comes next, and the group’s own keys take turns', async () => {
  const turns = new Turns(1, 60_000);
  const began: string[] = [];
  const { work, end } = worker(began);
  const names = ['a1', 'a2', 'b1', 'c1', 'd1'];
  const taken = names.map((name) => turns.take('many', name.slice(0, 1), work(name)));
  taken.push(...['x1', 'x2'].map((name) => turns.take('few', 'x', work(name))));
  for (const name of ['a1', 'b1', 'x1', 'c1', 'x2', 'd1', 'a2']) {
    await new Promise(setImmediate);
    end(name);
  }
  await Promise.all(taken);
  assert.deepEqual(began, ['a1', 'b1', 'x1', 'c1', 'x2', 'd1', 'a2']);
});
