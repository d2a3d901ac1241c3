import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { combineRates, deviationOf, isAcceptedDeviation, middleOf, midpoint, percentAway, toDecimal } from './rules.ts';

const from = (...rates: string[]) => rates.map((rate, i) => ({ source: `source ${i}`, rate }));

test('no answer → no rate', () => assert.equal(combineRates([]), null));

test('combineRates › only one source has answered → its rate, unchanged', () =>
  assert.equal(combineRates(from('0.920000001')), '0.920000001'));

test('two within 2 % of their middle → exactly their middle', () => {
  assert.equal(combineRates(from('0.92', '0.921')), '0.9205');
  assert.equal(combineRates(from('0.98', '1.02')), '1');
});

test('two farther away from their middle → none, in either order', () => {
  assert.equal(combineRates(from('0.98', '1.020000000000000002')), null);
  assert.equal(combineRates(from('1.3', '0.9')), null);
});

test('four that contradict each other two to two → none', () => {
  assert.equal(combineRates(from('0.92', '0.92', '92', '92')), null);
  assert.equal(combineRates(from('92', '0.92', '92', '0.92')), null);
});

test('no source is near the median → no rate, however many answered', () => {
  assert.equal(combineRates(from('1', '2', '3')), null);
  assert.equal(combineRates(from('1', '2', '3', '4', '5')), null);
});

test('three answers → the median, however far off the outlier', () => {
  assert.equal(combineRates(from('0.92', '92', '0.921')), '0.921');
  assert.equal(combineRates(from('0.000001', '0.92', '0.921')), '0.92');
});

test('four answers → halfway between the two in the middle', () => {
  assert.equal(combineRates(from('99', '0.92', '0.921', '0.00001')), '0.9205');
});

test('combineRates › rates are compared by value, not as text', () => {
  assert.equal(combineRates(from('9.9', '10', '100')), '10');
});

test('numbers of sources become plain decimals, exponents included', () => {
  const cases: [string, string | null][] = [
    ['0.92', '0.92'],
    ['1', '1'],
    ['1.00', '1'],
    ['007.5', '7.5'],
    ['1.5e-2', '0.015'],
    ['1.5E+2', '150'],
    ['9.2e-1', '0.92'],
    ['0.1234567890123456789', '0.123456789012345679'],
    ['1e-18', '0.000000000000000001'],
    ['1e-19', null],
    ['5e-19', '0.000000000000000001'],
    ['1e23', '100000000000000000000000'],
    ['1e24', null],
    ['1e999', null],
    ['0', null],
    ['0.000', null],
    ['-1', null],
    ['', null],
    ['NaN', null],
    ['Infinity', null],
    ['1,5', null],
    ['.5', null],
    ['1.', null],
    ['0x1', null],
    [' 1', null],
  ];
  for (const [text, decimal] of cases) assert.equal(toDecimal(text), decimal, text);
});

test('property: a combined rate lies between the smallest and the largest answer, whatever their order', () => {
  const micro = fc.integer({ min: 1, max: 1_000_000_000 });
  fc.assert(
    fc.property(fc.array(micro, { minLength: 1, maxLength: 6 }), (answers) => {
      const texts = answers.map((value) => toDecimal(`${value}e-6`) ?? assert.fail());
      const combined = combineRates(from(...texts));
      assert.equal(combined, combineRates(from(...texts.toReversed())));
      if (combined === null) {
        const sorted = answers.toSorted((a, b) => a - b);
        const middle = (at: number) => sorted[Math.floor(at)] ?? assert.fail();
        const twice = middle((sorted.length - 1) / 2) + middle(sorted.length / 2);
        const near = sorted.filter((value) => Math.abs(2 * value - twice) * 100 <= twice * 2);
        return assert.ok(answers.length >= 2 && near.length < 2);
      }
      const doubled = Math.round(Number(combined) * 2e6);
      assert.ok(doubled >= 2 * Math.min(...answers) && doubled <= 2 * Math.max(...answers));
    }),
  );
});

test('a deviation is reported beyond 5 %, in whole percent of the sources’ rate', () => {
  assert.equal(deviationOf('0.95', '1'), null);
  assert.equal(deviationOf('1.05', '1'), null);
  assert.equal(deviationOf('1.050000000000000001', '1'), 5n);
  assert.equal(deviationOf('0.5', '0.92'), -46n);
  assert.equal(deviationOf('92', '0.92'), 9900n);
});

test('an override’s deviation, confirmed as it was shown → accepted if it has moved by no more than a percent', () => {
  for (const shown of ['-46', '-45', '-47']) assert.ok(isAcceptedDeviation(-46n, shown), shown);
  for (const shown of [null, '', '46', '-44', '-46.0', '-', 'x', ' -46', '1e2'])
    assert.ok(!isAcceptedDeviation(-46n, shown));
});

test('halfway between two rates → exact', () =>
  assert.equal(midpoint('1', '1.000000000000000002'), '1.000000000000000001'));

test('what buyers and sellers ask for → its middle up to 2 % apart, beyond that no price', () => {
  assert.equal(middleOf('0.93', '0.93'), '0.93');
  assert.equal(middleOf('0.99', '1.01'), '1');
  assert.equal(middleOf('1.01', '0.99'), '1');
  assert.equal(middleOf('0.99', '1.010000000000000002'), null);
  assert.equal(middleOf('90', '0.01'), null);
});

test('how far a rate is from the sources’ → percent with one decimal, and no sign where that is zero', () => {
  assert.equal(percentAway('0.5', '0.92'), '-45.7');
  assert.equal(percentAway('0.92', '0.5'), '84.0');
  assert.equal(percentAway('0.9995', '1'), '-0.1');
  assert.equal(percentAway('0.9996', '1'), '0.0');
  assert.equal(percentAway('1', '1'), '0.0');
});

test('a rate that is not a positive decimal → an error, never a price', () => {
  for (const rate of ['0', '-1', 'NaN', '']) assert.throws(() => midpoint(rate, '1'), /not a positive decimal rate/);
});
