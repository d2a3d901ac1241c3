import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots, takeEach } from './slots.ts';

test('One holder takes all it may, then others › each its own part, until all are taken; one given back is free again', () => {
  const places = new Slots(4, 2);
  assert.deepEqual([places.take('a'), places.take('a'), places.take('a')], [true, true, false]);
  assert.deepEqual([places.take('b'), places.take('c'), places.take('d')], [true, true, false]);
  places.leave('a');
  assert.deepEqual([places.take('d'), places.take('a')], [true, false]);
  for (const holder of ['b', 'c', 'd']) places.leave(holder);
  assert.equal(places.take('a'), true);
});

test('A few holders that take all they can › leave places to others', () => {
  const places = new Slots(20, 4);
  const takeAll = (holder: string) => [1, 2, 3, 4, 5].filter(() => places.take(holder)).length;
  assert.deepEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(takeAll), [4, 4, 4, 4, 2, 1, 1, 0]);
});

test('holders within a holder › each leaves the others in it as many as it has, as it does the others of all', () => {
  const places = new Slots(24, 10, 5);
  const takeAll = (partner: string, merchant: string) =>
    [1, 2, 3, 4, 5, 6].filter(() => places.take(partner, merchant)).length;
  assert.deepEqual(
    ['1', '2', '3', '4', '5'].map((merchant) => takeAll('a', merchant)),
    [5, 3, 1, 1, 0],
  );
  assert.deepEqual([takeAll('b', '1'), takeAll('b', '2')], [5, 2]);
  places.leave('a', '1');
  assert.deepEqual([places.take('a', '6'), places.take('c', '1')], [false, true], 'who has few comes first');
});

test('takeEach › takes a place of each, or of none, and gives all back at once', () => {
  const [large, small] = [new Slots(18, 9), new Slots(1, 1)];
  const leave = takeEach([large, 'a'], [small, 'b']);
  assert.ok(leave);
  for (let i = 0; i < 9; i++) assert.equal(takeEach([large, 'a'], [small, 'c']), null);
  for (let i = 0; i < 8; i++) assert.equal(large.take('a'), true, 'what was not taken whole left nothing behind');
  assert.equal(large.take('a'), false);
  leave();
  assert.deepEqual([large.take('a'), small.take('c')], [true, true]);
});
