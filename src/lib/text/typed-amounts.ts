import { currencyCodes, currencyExponent } from '../money.ts';
import { withLatinDigits } from './digits.ts';

/** One way to read what was typed: digits before and after the point. */
export type TypedAmount = { whole: string; fraction: string };

/** `currency`: the code typed beside it, `USDC` included; null when none was. `readings`: one, or two for `1,200`. */
export type TypedAmounts = { readings: TypedAmount[]; currency: string | null };

const shape =
  /^(?<before>[A-Za-z]{3,4}|[A-Za-z]{0,2}\p{Sc})?\s*(?<number>\d[\d.,'’\s]*?)\s*(?<after>[A-Za-z]{3,4}|\p{Sc})?$/u;
const plain = /^\d{1,12}$/;
/** Groups of three, or as in India of two before the last three, all with the same separator. */
const grouped = /^\d{1,3}(?:([.,'’\s])\d{3})(?:\1\d{3}){0,3}$|^\d{1,2}(?:,\d{2}){1,4},\d{3}$/;

/**
 * Reads an amount as people type it into a search: `12.50`, `12,5`, `€1,200.00`, `1.200,00 EUR`, `14.501162 USDC`.
 * A form, which must not guess, reads with `readAmount`.
 *
 * @returns null for what is no amount
 */
export function readTypedAmounts(text: string): TypedAmounts | null {
  const { before, number = '', after } = shape.exec(inLatin(text.trim()))?.groups ?? {};
  const words = [before, after].filter((word) => word !== undefined && /^[A-Za-z]{3,4}$/.test(word));
  const currency = words[0]?.toUpperCase() ?? null;
  const isKnown = currency === null || currency === 'USDC' || currencyExponent(currency) !== null;
  if (number === '' || words.length > 1 || !isKnown) return null;
  const readings = [number, ...splitAt(number, '.'), ...splitAt(number, ',')].flatMap((one) => readingOf(one));
  return readings.length > 0 ? { readings, currency } : null;
}

/** The number split at its only point or comma, which must come last. */
function splitAt(number: string, point: '.' | ','): [string, string][] {
  const [whole = '', fraction, ...more] = number.split(point);
  return fraction !== undefined && more.length === 0 && /^\d{0,6}$/.test(fraction) ? [[whole, fraction]] : [];
}

function readingOf(one: string | [string, string]): TypedAmount[] {
  const [whole, fraction] = typeof one === 'string' ? [one, ''] : one;
  if (!plain.test(whole) && !grouped.test(whole)) return [];
  return [{ whole: whole.replace(/\D/g, ''), fraction }];
}

const inLatin = (text: string) => withLatinDigits(text).replaceAll('٫', '.').replaceAll('٬', ',');

/** An amount of fiat in minor units, with the currencies whose minor units they are. */
export type MinorAmount = { minor: string; codes: string[] };

/** The fiat amounts that may be meant; none where USDC was typed. */
export function fiatMeant({ readings, currency }: TypedAmounts): MinorAmount[] {
  const wanted = currency === null ? currencyCodes : currencyCodes.filter((code) => code === currency);
  const byExponent = Map.groupBy(wanted, (code) => currencyExponent(code) ?? 2);
  return readings.flatMap(({ whole, fraction }) =>
    [...byExponent]
      .filter(([exponent]) => fraction.length <= exponent)
      .map(([exponent, codes]) => ({ minor: BigInt(whole + fraction.padEnd(exponent, '0')).toString(), codes })),
  );
}

/**
 * The amounts of USDC that may be meant, in micro units, both ends included; none where fiat was typed. Requests differ
 * by less than a cent, which wallets do not show: `14.50` means 14.500000 to 14.509999.
 */
export function usdcMeant({ readings, currency }: TypedAmounts): { from: string; to: string }[] {
  if (currency !== null && currency !== 'USDC') return [];
  return readings.map(({ whole, fraction }) => {
    const from = BigInt(whole + fraction.padEnd(6, '0'));
    const wide = 10n ** BigInt(6 - Math.max(2, fraction.length));
    return { from: from.toString(), to: (from + wide - 1n).toString() };
  });
}
