import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAmount } from './amount.ts';

test('Amounts are read with a point or a comma, to the digits that the currency has', () => {
  for (const [text, exponent, minor] of [
    ['12.50', 2, 1250n],
    ['12,5', 2, 1250n],
    [' 12 ', 2, 1200n],
    ['12.', 2, 1200n],
    ['0.01', 2, 1n],
    ['1200', 0, 1200n],
    ['1.234', 3, 1234n],
    ['0', 2, 0n],
  ] as const) {
    assert.equal(parseAmount(text, exponent), minor, text);
  }
});

test('A text that could mean two amounts, or none, is refused', () => {
  for (const [text, exponent] of [
    ['1,250', 2],
    ['1.250', 2],
    ['12.5', 0],
    ['1 250', 2],
    ['-5', 2],
    ['+5', 2],
    ['1e3', 2],
    ['', 2],
    ['.5', 2],
    ['€5', 2],
    ['1234567890123', 2],
  ] as const) {
    assert.equal(parseAmount(text, exponent), null, text);
  }
});
