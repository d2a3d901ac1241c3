import { createHash } from 'node:crypto';

/** Crockford's base 32: no I, L, O and U, which are misread or misheard. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 10;

/**
 * The number of a receipt, short enough to be read out: `Q-20261121-7F3K2M9P4X`.
 *
 * Always the same for the same request and instant. It holds 50 bits of a hash of the id: they lead to no pay page.
 *
 * @param requestId UUID in either case
 * @param paidAt the instant the receipt is dated by; its day in UTC is shown
 */
export function receiptNumber(requestId: string, paidAt: Date): string {
  const day = paidAt.toISOString().slice(0, 10).replaceAll('-', '');
  const digest = createHash('sha256').update(`receipt number of ${requestId.toLowerCase()}`).digest();
  return `Q-${day}-${Array.from(digest.subarray(0, length), (byte) => alphabet[byte & 31]).join('')}`;
}
