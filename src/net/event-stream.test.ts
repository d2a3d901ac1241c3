import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamPlaces } from './event-stream.ts';

test('One holder has so many places, all together so many more, and each that is given back is free again', () => {
  const places = new StreamPlaces(3, 2);
  assert.deepEqual([places.take('a'), places.take('a'), places.take('a')], [true, true, false]);
  assert.deepEqual([places.take('b'), places.take('b'), places.take('c')], [true, false, false]);
  places.leave('a');
  assert.deepEqual([places.take('c'), places.take('a')], [true, false]);
  places.leave('c');
  assert.equal(places.take('a'), true);
});
