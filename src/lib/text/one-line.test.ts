import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneLine } from './one-line.ts';

test('line breaks of every kind and control characters → one space each run, none at the ends', () => {
  assert.equal(oneLine('\n Ada’s\r\nBakery\t\u2028\u2029No. 5\u0000'), 'Ada’s Bakery No. 5');
  assert.equal(oneLine(' \n '), '');
});
