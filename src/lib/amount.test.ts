import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAmount } from './amount.ts';

test('Amounts are read with a point or a comma, to the digits that the currency has', () => {
  for (const [text, currency, minor] of [
    ['12.50', 'EUR', 1250n],
    ['12,5', 'EUR', 1250n],
    [' 12 ', 'EUR', 1200n],
    ['12.', 'EUR', 1200n],
    ['.5', 'EUR', 50n],
    ['0.01', 'EUR', 1n],
    ['1200', 'JPY', 1200n],
    ['1.234', 'KWD', 1234n],
    ['1,25', 'KWD', 1250n],
    ['0,250', 'KWD', 250n],
    [',250', 'KWD', 250n],
    ['1234,500', 'KWD', 1234500n],
    ['1234567890123', 'EUR', 123456789012300n],
  ] as const) {
    assert.deepEqual(readAmount(text, currency), { minor }, text);
  }
});

test('The currency’s own sign or code may stand beside the amount, and digits may be those of any keyboard', () => {
  for (const [text, currency, minor] of [
    [' 12.50 €', 'EUR', 1250n],
    ['12,50\u00a0€', 'EUR', 1250n],
    ['€12.50', 'EUR', 1250n],
    ['eur 12.50', 'EUR', 1250n],
    ['$5', 'USD', 500n],
    ['R$ 5', 'BRL', 500n],
    ['₹500', 'INR', 50000n],
    ['￥１２００', 'JPY', 1200n],
    ['١٢٫٥٠', 'EUR', 1250n],
    ['\u200f12.50 €', 'EUR', 1250n],
    ['१२.५०', 'INR', 1250n],
  ] as const) {
    assert.deepEqual(readAmount(text, currency), { minor }, text);
  }
});

test('A text that could mean two amounts, or none, is refused with its reason', () => {
  for (const [text, currency, fault] of [
    ['1,250', 'EUR', 'separators'],
    ['1.250', 'EUR', 'separators'],
    ['1,250', 'KWD', 'separators'],
    ['12,500', 'TND', 'separators'],
    ['125,000', 'OMR', 'separators'],
    ['12.505', 'EUR', 'separators'],
    ['1.250,00', 'EUR', 'separators'],
    ['1 250', 'EUR', 'separators'],
    ['1’250', 'EUR', 'separators'],
    ['١٬٢٥٠', 'EUR', 'separators'],
    ['12.5', 'JPY', 'separators'],
    ['$5', 'EUR', 'notOnlyNumber'],
    ['$5', 'CAD', 'notOnlyNumber'],
    ['5 USD', 'EUR', 'notOnlyNumber'],
    ['5 each', 'EUR', 'notOnlyNumber'],
    ['-5', 'EUR', 'amount'],
    ['+5', 'EUR', 'amount'],
    ['1e3', 'EUR', 'amount'],
    ['', 'EUR', 'amount'],
    ['.', 'EUR', 'amount'],
    ['€', 'EUR', 'amount'],
    ['0', 'EUR', 'amount'],
    ['0.00', 'EUR', 'amount'],
    ['1'.repeat(41), 'EUR', 'amount'],
  ] as const) {
    assert.deepEqual(readAmount(text, currency), { fault }, text);
  }
});
