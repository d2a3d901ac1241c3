import { createHash } from 'node:crypto';
import { dayOf } from '../time.ts';

/** Crockford's base 32: no I, L, O and U, which are misread or misheard. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 10;

/**
 * The number of a receipt, short enough to be read aloud: `Q-20261121-7F3K2M9P4X`.
 *
 * Always the same for the same request and instant. It holds 50 bits of a hash of the id, so it does not lead to a pay
 * page.
 *
 * @param requestId UUID in either case
 * @param paidAt the instant that dates the receipt; its UTC day is shown
 */
export function receiptNumber(requestId: string, paidAt: Date): string {
  const day = dayOf(paidAt).replaceAll('-', '');
  const digest = createHash('sha256').update(`receipt number of ${requestId.toLowerCase()}`).digest();
  return `Q-${day}-${Array.from(digest.subarray(0, length), (byte) => alphabet[byte & 31]).join('')}`;
}

/**
 * Reads a number as typed or dictated: letters in either case, O for 0, I and L for 1, with or without dashes.
 *
 * @returns the number as `receiptNumber` writes it, with the UTC day of its date; null for anything else, including
 * years before 2000, because the database does not support all of them
 */
export function parseReceiptNumber(text: string): { number: string; day: Date } | null {
  const match = /^Q-?(2\d{3})(\d{2})(\d{2})-?([0-9A-Z]{10})$/.exec(text.trim().toUpperCase());
  if (!match) return null;
  const [, year, month, date, code = ''] = match;
  const day = new Date(`${year}-${month}-${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.getUTCDate() !== Number(date)) return null;
  const read = code.replaceAll('O', '0').replace(/[IL]/g, '1');
  return { number: `Q-${year}${month}${date}-${read}`, day };
}

/** The numbers that the characters of a receipt number stand for: the last five bits of each byte of its hash. */
export function receiptCode(number: string): number[] {
  return Array.from(number.slice(-length), (letter) => alphabet.indexOf(letter));
}
