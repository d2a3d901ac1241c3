import { decimalOf, formatMicro } from '../lib/money.ts';

/**
 * A decimal number for a CSV file, never with three decimals: a spreadsheet whose locale separates thousands by a point
 * would take `0.862` for 862.
 */
export const csvDecimal = (text: string): string => (/\.\d{3}$/.test(text) ? `${text}0` : text);

/** Micro units in a CSV file; null for none. */
export const csvMicro = (micro: string | null): string | null =>
  micro === null ? null : csvDecimal(formatMicro(BigInt(micro)));

/** Minor units of a currency in a CSV file. */
export const csvFiat = (fiatInt: string, code: string): string => csvDecimal(decimalOf(BigInt(fiatInt), code));
