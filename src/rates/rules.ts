import { parseDecimal } from '../lib/money.ts';

/** The price of a stablecoin at one source, as a positive decimal string. */
export type SourceRate = { source: string; rate: string };

/** How many fraction digits of a rate are kept: as many as `parseDecimal` reads. */
const fractionDigits = 18;
const scale = 10n ** BigInt(fractionDigits);
/** No real rate comes near this many digits; a source that reports more is broken. */
const maxWholeDigits = 24;

const numberPattern = /^(\d{1,60})(?:\.(\d{1,120}))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Converts a source's number (`0.92`, `"1.5e-2"`) to a plain positive decimal with at most 18 fraction digits, half
 * rounded up; null when it is not a positive number.
 */
export function toDecimal(text: string): string | null {
  const match = numberPattern.exec(text);
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = fractionDigits - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const units = shift >= 0 ? digits * 10n ** BigInt(shift) : divideHalfUp(digits, 10n ** BigInt(-shift));
  if (units === 0n || units >= scale * 10n ** BigInt(maxWholeDigits)) return null;
  return formatUnits(units);
}

/** The mean of two decimals, rounded to 18 fraction digits like every rate. */
export function midpoint(a: string, b: string): string {
  return formatUnits(divideHalfUp(unitsOf(a) + unitsOf(b), 2n));
}

/** The most by which two rates of the same price may differ, in percent of their middle. */
const maxApartPercent = 2n;

/**
 * The middle of the bid and the ask at one source; null if these are further apart than rates of the same price: where
 * nobody trades, the middle is no price.
 */
export function middleOf(ask: string, bid: string): string | null {
  const twice = unitsOf(ask) + unitsOf(bid);
  return distance(unitsOf(ask), unitsOf(bid)) * 200n > twice * maxApartPercent ? null : midpoint(ask, bid);
}

/**
 * The rate to use: the median of the sources that answered, or the mean of the middle two for an even count. If two or
 * more answered, at least two must lie within 2 % of it, otherwise the result is null. So one outlier among several has
 * no effect, and if the sources split into two camps, neither is trusted.
 */
export function combineRates(answers: readonly SourceRate[]): string | null {
  const sorted = answers.map(({ rate }) => unitsOf(rate)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.floor(sorted.length / 2)];
  if (low === undefined || high === undefined) return null;
  const twice = low + high;
  const near = sorted.filter((rate) => distance(2n * rate, twice) * 100n <= twice * maxApartPercent);
  if (sorted.length >= 2 && near.length < 2) return null;
  return formatUnits(divideHalfUp(twice, 2n));
}

const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

/** How far a rate is from the sources' rate, in whole percent of the latter with its sign; null up to 5 %. */
export function deviationOf(rate: string, sourcesRate: string): bigint | null {
  const [ours, theirs] = [unitsOf(rate), unitsOf(sourcesRate)];
  const away = distance(ours, theirs);
  if (away * 20n <= theirs) return null;
  const percent = divideHalfUp(away * 100n, theirs);
  return ours < theirs ? -percent : percent;
}

/** How far a rate is from the sources' rate, in percent with one decimal and its sign: `-45.7`. */
export function percentAway(rate: string, sourcesRate: string): string {
  const [ours, theirs] = [unitsOf(rate), unitsOf(sourcesRate)];
  const tenths = divideHalfUp(distance(ours, theirs) * 1000n, theirs);
  return `${ours < theirs && tenths > 0n ? '-' : ''}${tenths / 10n}.${tenths % 10n}`;
}

/**
 * Whether a deviation is within one percentage point of the one that was shown: the sources may have moved meanwhile.
 */
export function isAcceptedDeviation(deviation: bigint, shown: string | null): boolean {
  if (shown === null || !/^-?\d{1,30}$/.test(shown)) return false;
  return distance(deviation, BigInt(shown)) <= 1n;
}

function unitsOf(rate: string): bigint {
  const parsed = parseDecimal(rate);
  if (!parsed || parsed.units === 0n) throw new RangeError(`not a positive decimal rate: ${rate}`);
  return (parsed.units * scale) / parsed.scale;
}

function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}

function formatUnits(units: bigint): string {
  const fraction = (units % scale).toString().padStart(fractionDigits, '0').replace(/0+$/, '');
  return fraction === '' ? `${units / scale}` : `${units / scale}.${fraction}`;
}
