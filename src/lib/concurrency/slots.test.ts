import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots, takeEach } from './slots.ts';

test('One holder takes all it may, then others › each its own part, until all are taken; one given back is free again', () => {
  const slots = new Slots(4, 2);
  assert.deepEqual([slots.take('a'), slots.take('a'), slots.take('a')], [true, true, false]);
  assert.deepEqual([slots.take('b'), slots.take('c'), slots.take('d')], [true, true, false]);
  slots.leave('a');
  assert.deepEqual([slots.take('d'), slots.take('a')], [true, false]);
  for (const holder of ['b', 'c', 'd']) slots.leave(holder);
  assert.equal(slots.take('a'), true);
});

test('A few holders that take all they can › leave slots to others', () => {
  const slots = new Slots(20, 4);
  const takeAll = (holder: string) => [1, 2, 3, 4, 5].filter(() => slots.take(holder)).length;
  assert.deepEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(takeAll), [4, 4, 4, 4, 2, 1, 1, 0]);
});

test('holders within a holder › each leaves the others in it as many as it has, as it does the others of all', () => {
  const slots = new Slots(24, 10, 5);
  const takeAll = (partner: string, merchant: string) =>
    [1, 2, 3, 4, 5, 6].filter(() => slots.take(partner, merchant)).length;
  assert.deepEqual(
    ['1', '2', '3', '4', '5'].map((merchant) => takeAll('a', merchant)),
    [5, 3, 1, 1, 0],
  );
  assert.deepEqual([takeAll('b', '1'), takeAll('b', '2')], [5, 2]);
  slots.leave('a', '1');
  assert.deepEqual([slots.take('a', '6'), slots.take('c', '1')], [false, true], 'who has few comes first');
});

test('takeEach › takes a slot of each, or of none, and gives all back at once', () => {
  const [large, small] = [new Slots(18, 9), new Slots(1, 1)];
  const leave = takeEach([large, 'a'], [small, 'b']);
  assert.ok(leave);
  for (let i = 0; i < 9; i++) assert.equal(takeEach([large, 'a'], [small, 'c']), null);
  for (let i = 0; i < 8; i++) assert.equal(large.take('a'), true, 'what was not taken whole left nothing behind');
  assert.equal(large.take('a'), false);
  leave();
  assert.deepEqual([large.take('a'), small.take('c')], [true, true]);
});
