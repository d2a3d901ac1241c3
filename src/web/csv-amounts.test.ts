import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvDecimal, csvFiat, csvMicro } from './csv-amounts.ts';

test('an amount of a CSV file never has three decimals, which some spreadsheets read as thousands', () => {
  assert.deepEqual(['0.862', '1.08', '151.25', '1234.567', '2'].map(csvDecimal), [
    '0.8620',
    '1.08',
    '151.25',
    '1234.5670',
    '2',
  ]);
  assert.deepEqual(['14501000', '14501234', '12500000', null].map(csvMicro), ['14.5010', '14.501234', '12.50', null]);
  assert.deepEqual(
    [csvFiat('12500', 'KWD'), csvFiat('1250', 'EUR'), csvFiat('1250', 'JPY')],
    ['12.5000', '12.50', '1250'],
  );
});
