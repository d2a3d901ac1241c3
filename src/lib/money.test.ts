import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { currencyCodes, currencyExponent, formatFiat, formatMicro, parseDecimal, toUsdcMicro } from './money.ts';

/** A decimal text as an exact fraction, written independently of the code under test. */
function fraction(text: string): [numerator: bigint, denominator: bigint] {
  const [whole = '', part = ''] = text.split('.');
  return [BigInt(whole + part), BigInt(`1${'0'.repeat(part.length)}`)];
}

/** True when r is the smallest integer with r × 10^exponent × rate ≥ fiat × 10^6. */
function isSmallest(r: bigint, fiat: bigint, exponent: number, rate: string): boolean {
  const [numerator, denominator] = fraction(rate);
  const pays = (micro: bigint) => micro * 10n ** BigInt(exponent) * numerator >= fiat * 1_000_000n * denominator;
  return pays(r) && !pays(r - 1n);
}

const fiatInts = fc.oneof(
  fc.bigInt({ min: 1n, max: 2_147_483_647n }),
  fc.constantFrom(1n, 2n, 99n, 100n, 999_999n, 2_147_483_647n),
);
const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
const rates = fc
  .tuple(digits(1, 24), fc.option(digits(1, 18)))
  .map(([whole, part]) => (part === null ? whole : `${whole}.${part}`))
  .filter((text) => /[1-9]/.test(text));
const exponents = fc.constantFrom(0, 2, 3, 4);

test('property: usdc_micro is the smallest integer that is worth the fiat amount, for any rate', () => {
  fc.assert(
    fc.property(fiatInts, exponents, rates, (fiat, exponent, rate) =>
      isSmallest(toUsdcMicro(fiat, exponent, rate), fiat, exponent, rate),
    ),
    { numRuns: 2000 },
  );
});

test('property: trailing zeros and leading zeros of a rate change nothing', () => {
  const short = digits(1, 12).filter((text) => /[1-9]/.test(text));
  fc.assert(
    fc.property(fiatInts, exponents, short, (fiat, exponent, rate) => {
      const exact = toUsdcMicro(fiat, exponent, rate);
      assert.equal(toUsdcMicro(fiat, exponent, `${rate}.000`), exact);
      assert.equal(toUsdcMicro(fiat, exponent, `000${rate}`), exact);
    }),
  );
});

test('property: a larger amount never costs less, a larger rate never costs more', () => {
  fc.assert(
    fc.property(fiatInts, exponents, rates, (fiat, exponent, rate) => {
      assert.ok(toUsdcMicro(fiat + 1n, exponent, rate) >= toUsdcMicro(fiat, exponent, rate));
      if (/^\d{1,23}(\.|$)/.test(rate)) {
        assert.ok(toUsdcMicro(fiat, exponent, `9${rate}`) <= toUsdcMicro(fiat, exponent, rate));
      }
    }),
  );
});

test('usdc_micro of known amounts: USD, EUR, JPY, KWD', () => {
  assert.equal(toUsdcMicro(1250n, 2, '1'), 12_500_000n);
  assert.equal(toUsdcMicro(1250n, 2, '0.92'), 13_586_957n);
  assert.equal(toUsdcMicro(1n, 2, '0.92'), 10_870n);
  assert.equal(toUsdcMicro(1500n, 0, '150'), 10_000_000n);
  assert.equal(toUsdcMicro(1n, 0, '154'), 6494n);
  assert.equal(toUsdcMicro(1250n, 3, '0.3065'), 4_078_304n);
  assert.equal(toUsdcMicro(2_147_483_647n, 0, '0.000000000000000001'), 2_147_483_647n * 10n ** 24n);
  assert.equal(toUsdcMicro(1n, 2, '9'.repeat(24)), 1n);
});

test('a rate where floating point goes wrong stays exact', () => {
  // Like 0.1 + 0.2: 3 cents at 0.3 are exactly 0.1, but slightly more in floating point.
  assert.equal(toUsdcMicro(3n, 2, '0.3'), 100_000n);
  assert.equal(toUsdcMicro(57n, 2, '0.57'), 1_000_000n);
  assert.equal(toUsdcMicro(110n, 2, '1.1'), 1_000_000n);
});

test('a rate that is no positive decimal is refused', () => {
  for (const rate of ['0', '0.0', '', '-1', '+1', '1e3', '.5', '1.', ' 1', '1 ', '1,5', 'NaN', '0x1', '١']) {
    assert.throws(() => toUsdcMicro(1n, 2, rate), RangeError, rate);
  }
});

test('decimals: 24 digits before and 18 after the point, no more', () => {
  assert.deepEqual(parseDecimal('1.25'), { units: 125n, scale: 100n });
  assert.deepEqual(parseDecimal('0'), { units: 0n, scale: 1n });
  assert.ok(parseDecimal(`${'9'.repeat(24)}.${'9'.repeat(18)}`));
  assert.equal(parseDecimal('1'.repeat(25)), null);
  assert.equal(parseDecimal(`0.${'1'.repeat(19)}`), null);
  assert.equal(parseDecimal('1\n'), null);
});

test('exponents follow ISO 4217, and only upper-case codes of money have one', () => {
  const expected = [
    [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
    [2, 'EUR GBP HUF INR MGA MRU TWD USD'],
    [3, 'BHD IQD JOD KWD LYD OMR TND'],
    [4, 'CLF UYW'],
  ] as const;
  for (const [exponent, codes] of expected) {
    for (const code of codes.split(' ')) assert.equal(currencyExponent(code), exponent, code);
  }
  const withoutTwo = currencyCodes.filter((code) => currencyExponent(code) !== 2);
  assert.equal(withoutTwo.length, 26, 'all others have two');
  const none = ['XAU', 'XXX', 'XTS', 'usd', 'Usd', 'US', 'USDC', '', 'DOGE', 'constructor', 'toString', '__proto__'];
  for (const code of none) assert.equal(currencyExponent(code), null, code);
});

test('all listed codes are three upper-case letters, sorted, each with an exponent', () => {
  assert.ok(currencyCodes.length > 150);
  assert.deepEqual([...new Set(currencyCodes)].sort(), currencyCodes);
  for (const code of currencyCodes) {
    assert.match(code, /^[A-Z]{3}$/);
    assert.notEqual(currencyExponent(code), null);
  }
});

test('micro units for people: cents always, finer digits where they are', () => {
  const cases: [bigint, string][] = [
    [0n, '0.00'],
    [1n, '0.000001'],
    [10_000n, '0.01'],
    [100_000n, '0.10'],
    [12_500_000n, '12.50'],
    [12_500_001n, '12.500001'],
    [12_500_100n, '12.5001'],
    [2_147_483_647_000_000n, '2147483647.00'],
  ];
  for (const [micro, text] of cases) assert.equal(formatMicro(micro), text);
});

test('property: formatted micro units read back exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 39n }), (micro) => {
      const [numerator, denominator] = fraction(formatMicro(micro));
      assert.equal(numerator * 1_000_000n, micro * denominator);
    }),
  );
});

test('minor units for people keep the digits of their currency', () => {
  assert.equal(formatFiat(1250n, 'EUR', 'en-US'), '€12.50');
  assert.equal(formatFiat(5n, 'USD', 'en-US'), '$0.05');
  assert.equal(formatFiat(1250n, 'JPY', 'en-US'), '¥1,250');
  assert.equal(formatFiat(1250n, 'KWD', 'en-US').replace(/\s/g, ' '), 'KWD 1.250');
  assert.equal(formatFiat(2_147_483_647n, 'USD', 'en-US'), '$21,474,836.47');
});

test('right to left, a sign stays behind the letters of its symbol', () => {
  const mark = '\u200e';
  for (const [code, symbol] of [
    ['USD', 'US$'],
    ['JPY', 'JP¥'],
    ['CAD', 'CA$'],
  ] as const)
    assert.ok(formatFiat(1250n, code, 'ar').endsWith(`${symbol}${mark}`), code);
  for (const code of ['EUR', 'KWD', 'XOF']) assert.ok(!formatFiat(1250n, code, 'ar').endsWith(mark), code);
});
