/**
 * ISO 4217 exponents: how many minor units make one unit, as a power of ten. Currencies without minor units are listed
 * with 0; codes that are not money (XAU, XXX …) are missing.
 */
const exponentOverrides = new Map(
  Object.entries({
    BIF: 0,
    CLP: 0,
    DJF: 0,
    GNF: 0,
    ISK: 0,
    JPY: 0,
    KMF: 0,
    KRW: 0,
    PYG: 0,
    RWF: 0,
    UGX: 0,
    UYI: 0,
    VND: 0,
    VUV: 0,
    XAF: 0,
    XOF: 0,
    XPF: 0,
    BHD: 3,
    IQD: 3,
    JOD: 3,
    KWD: 3,
    LYD: 3,
    OMR: 3,
    TND: 3,
    CLF: 4,
    UYW: 4,
  }),
);

const twoDigitCodes = new Set(
  (
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE ' +
    'CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL ' +
    'HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR ' +
    'MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK ' +
    'SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG ' +
    'YER ZAR ZMW ZWG'
  ).split(' '),
);

/** The ISO 4217 exponent of a currency code (JPY 0, USD 2, KWD 3); null when the code is not a currency. */
export function currencyExponent(code: string): number | null {
  return exponentOverrides.get(code) ?? (twoDigitCodes.has(code) ? 2 : null);
}

/** Every currency code that has an exponent, in alphabetical order. */
export const currencyCodes: readonly string[] = [...exponentOverrides.keys(), ...twoDigitCodes].sort();

const decimalPattern = /^(\d{1,24})(?:\.(\d{1,18}))?$/;

/**
 * A non-negative decimal string as an exact fraction: `"1.25"` → `{ units: 125n, scale: 100n }`; null when malformed.
 */
export function parseDecimal(text: string): { units: bigint; scale: bigint } | null {
  const match = decimalPattern.exec(text);
  if (!match) return null;
  const [, whole = '0', fraction = ''] = match;
  return { units: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length) };
}

/**
 * The price of a fiat amount in micro units of a stablecoin worth one US dollar, rounded up so that nobody is
 * underpaid.
 *
 * @param fiatInt minor units of the currency, positive
 * @param exponent ISO 4217 exponent of the currency
 * @param rate fiat units per stablecoin, a positive decimal string
 * @returns `ceil(fiatInt × 10^6 / (10^exponent × rate))`
 * @throws RangeError when the rate is not a positive decimal
 */
export function toUsdcMicro(fiatInt: bigint, exponent: number, rate: string): bigint {
  const parsed = parseDecimal(rate);
  if (!parsed || parsed.units === 0n) throw new RangeError(`not a positive decimal rate: ${rate}`);
  const numerator = fiatInt * 1_000_000n * parsed.scale;
  const denominator = 10n ** BigInt(exponent) * parsed.units;
  return (numerator + denominator - 1n) / denominator;
}

/** Micro units as a decimal amount of the coin, without trailing zeros beyond cents: `12500001n` → `"12.500001"`. */
export function formatMicro(micro: bigint): string {
  const whole = micro / 1_000_000n;
  const fraction = (micro % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${whole}.${fraction}`;
}

/** Minor units as a decimal amount: `1250n, 'EUR'` → `"12.50"`. */
export function decimalOf(fiatInt: bigint, code: string): string {
  const exponent = currencyExponent(code) ?? 2;
  const digits = fiatInt.toString().padStart(exponent + 1, '0');
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/** Minor units for people, in the given locale: `1250n, 'EUR'` → `"€12.50"`. */
export function formatFiat(fiatInt: bigint, code: string, locale: string): string {
  const minimumFractionDigits = currencyExponent(code) ?? 2;
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency: code, minimumFractionDigits });
  const text = format.format(decimalOf(fiatInt, code) as Intl.StringNumericLiteral);
  return text.startsWith(rightToLeftMark) ? text.replace(/(?<=\p{Script=Latin})\p{Sc}/u, '$&\u200e') : text;
}

/**
 * `Intl` begins right-to-left amounts with it. In them `US$` would be shown as `$US`, because a sign at the end takes
 * the direction of the text around it. A left-to-right mark keeps it after its letters.
 */
const rightToLeftMark = '\u200f';
