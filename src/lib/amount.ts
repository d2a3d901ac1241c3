/**
 * An amount as people type it, in minor units: `12.50` and `12,5` are 1250n where the exponent is 2. No grouping:
 * `1,250` could mean two things.
 *
 * @param exponent ISO 4217 exponent of the currency
 * @returns null for what is no amount, or has more digits after the point than the currency
 */
export function parseAmount(text: string, exponent: number): bigint | null {
  const match = /^(\d{1,12})(?:[.,](\d*))?$/.exec(text.trim());
  if (!match) return null;
  const [, whole = '', fraction = ''] = match;
  if (fraction.length > exponent) return null;
  return BigInt(whole + fraction.padEnd(exponent, '0'));
}
