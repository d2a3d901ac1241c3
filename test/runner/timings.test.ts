import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allTests } from './choose.ts';
import { dealtOut, slowestFirst } from './timings.ts';

test('files of which nothing is known → each runs, and few that start browsers or nodes run beside each other', () => {
  const all = allTests();
  const order = dealtOut(all);
  assert.deepEqual(order.toSorted(), all.toSorted());
  const isHeavy = (file: string) => /^test\/(?:pages|service)\//.test(file);
  for (let at = 0; at + 4 <= order.length; at++) {
    const beside = order.slice(at, at + 4).filter(isHeavy);
    assert.ok(beside.length <= 2, beside.join());
  }
  assert.ok(!order.slice(-10).some(isHeavy), 'none of them runs alone at the end');
});

test('files that have run → new ones first, then the slowest', () => {
  const durations = { 'src/a.test.ts': 1, 'test/service/b.test.ts': 3, 'test/api/c.test.ts': 2 };
  assert.deepEqual(slowestFirst([...Object.keys(durations), 'src/new.test.ts'], durations), [
    'src/new.test.ts',
    'test/service/b.test.ts',
    'test/api/c.test.ts',
    'src/a.test.ts',
  ]);
});
