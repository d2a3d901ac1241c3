import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places, takeEach } from './places.ts';

test('One holder has so many places, all together so many more, and each that is given back is free again', () => {
  const places = new Places(3, 2);
  assert.deepEqual([places.take('a'), places.take('a'), places.take('a')], [true, true, false]);
  assert.deepEqual([places.take('b'), places.take('b'), places.take('c')], [true, false, false]);
  places.leave('a');
  assert.deepEqual([places.take('c'), places.take('a')], [true, false]);
  places.leave('c');
  assert.equal(places.take('a'), true);
});

test('a place of each is taken, or none, and all are given back at once', () => {
  const [large, small] = [new Places(9, 9), new Places(1, 1)];
  const leave = takeEach([large, 'a'], [small, 'b']);
  assert.ok(leave);
  for (let i = 0; i < 9; i++) assert.equal(takeEach([large, 'a'], [small, 'c']), null);
  for (let i = 0; i < 8; i++) assert.equal(large.take('a'), true, 'what was not taken whole left nothing behind');
  assert.equal(large.take('a'), false);
  leave();
  assert.deepEqual([large.take('a'), small.take('c')], [true, true]);
});
