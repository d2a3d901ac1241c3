import { currencyExponent } from './money.ts';
import { withLatinDigits } from './text/digits.ts';

/**
 * Why a text is no amount. `amount`: it has none, or not above zero; `separators`: separators or decimals that the
 * currency does not have, so that it could mean two amounts; `notOnlyNumber`: words or the sign of another currency.
 */
export type AmountFault = 'amount' | 'separators' | 'notOnlyNumber';

/** More would only cost time: a field takes 16 characters. */
const maxLength = 40;
const shape = /^(?<before>[^\d\s.,'’٬+-]*)\s*(?<number>[\d.,'’٬\s]*[\d.,])\s*(?<after>[^\d\s.,'’٬+-]*)$/u;

/** Thousands as well as decimals: `1,250` dinars are 1250 where English is written and 1.250 where French is. */
const looksGrouped = /^[1-9]\d{0,2},\d{3}$/;

/**
 * Reads an amount as people type it: `12.50`, `12,5`, `.5` and, for euros, `12.50 €` and `EUR 12.50`; also in the
 * digits of Arabic, Hindi and Japanese keyboards. It does not guess: `1,250` could mean two amounts, and `$` is taken
 * for US dollars only.
 *
 * @param currency ISO 4217 code of the amount
 * @returns minor units above zero, or what is wrong
 */
export function readAmount(text: string, currency: string): { minor: bigint } | { fault: AmountFault } {
  if (text.length > maxLength) return { fault: 'amount' };
  const parts = shape.exec(plainly(text))?.groups;
  if (!parts) return { fault: 'amount' };
  const { before = '', number = '', after = '' } = parts;
  if (![before, after].every((sign) => sign === '' || isSignOf(currency, sign))) return { fault: 'notOnlyNumber' };
  const [, whole = '', fraction = ''] = /^(\d*)(?:[.,](\d*))?$/.exec(number) ?? [];
  const exponent = currencyExponent(currency) ?? 2;
  if (whole + fraction === '') return { fault: /\d/.test(number) ? 'separators' : 'amount' };
  if (fraction.length > exponent || looksGrouped.test(number)) return { fault: 'separators' };
  const minor = BigInt(whole + fraction.padEnd(exponent, '0'));
  return minor === 0n ? { fault: 'amount' } : { minor };
}

/** The minor units of an amount that was read; null if it was none. */
export const minorOf = (read: ReturnType<typeof readAmount>): bigint | null => ('minor' in read ? read.minor : null);

/** The text with Latin digits, a point for the Arabic one, and without marks of direction or surrounding blanks. */
function plainly(text: string): string {
  return withLatinDigits(text.normalize('NFKC'))
    .replace(/[\u200e\u200f\u061c]/g, '')
    .replaceAll('٫', '.')
    .trim();
}

/** Whether it is the currency's code, or its sign where English gives that sign to no other currency. */
function isSignOf(currency: string, sign: string): boolean {
  if (sign.toUpperCase() === currency) return true;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.formatToParts(0).some(({ type, value }) => type === 'currency' && value === sign);
}
