import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearAmounts } from './near-matches.ts';

const usdc = (text: string) => BigInt(Math.round(Number(text) * 1_000_000));

const isNear = (paid: string, asked: string) => {
  const { fromMicro, toMicro } = nearAmounts(usdc(paid));
  return fromMicro <= usdc(asked) && usdc(asked) <= toMicro;
};

test('a fee of the exchange, or a rounded figure → near; another price → not', () => {
  for (const [paid, asked] of [
    ['12', '12.5'],
    ['14.5', '14.501162'],
    ['15', '14.501162'],
    ['7.5', '12.5'],
    ['1450', '1500'],
    ['2', '1'],
  ] as const) {
    assert.ok(isNear(paid, asked), `${paid} of ${asked}`);
  }
  for (const [paid, asked] of [
    ['7', '12.5'],
    ['17.6', '12.5'],
    ['1', '2.1'],
    ['1', '0.4'],
    ['1400', '1500'],
    ['3000', '1500'],
  ] as const) {
    assert.ok(!isNear(paid, asked), `${paid} of ${asked}`);
  }
});

test('how far an amount may be away → 5 USDC or 5 %, whichever is more, to the micro unit', () => {
  for (const [paid, from, to] of [
    ['7.5', '3.75', '12.5'],
    ['100', '95', '105'],
    ['200', '190', '210'],
    ['0.000003', '0.000002', '0.000006'],
  ] as const) {
    assert.deepEqual(nearAmounts(usdc(paid)), { fromMicro: usdc(from), toMicro: usdc(to) }, paid);
  }
});

test('whatever arrives → the same amount is near, nothing is negative, and neither is more than twice the other', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 20n), (value) => {
      const { fromMicro, toMicro } = nearAmounts(value);
      assert.ok(0n < fromMicro && fromMicro <= value && value <= toMicro);
      assert.ok(value <= fromMicro * 2n && toMicro <= value * 2n);
    }),
  );
});
