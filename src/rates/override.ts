import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { currencyExponent, parseDecimal } from '../lib/money.ts';
import { deleteOverride, upsertOverride } from './store.ts';

/**
 * Sets a currency's rate (fiat units per one stablecoin). It neither ages nor is refreshed away until it
 * is cleared or ends; after its end the sources count again.
 *
 * @param until when it ends by itself; null: when it is cleared
 * @throws Error as a sentence when the code is no currency, the rate no positive decimal, or the end is past
 */
export async function setOverride(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  code: string,
  rate: string,
  until: Date | null,
): Promise<void> {
  refuseUnknown(code);
  const parsed = parseDecimal(rate);
  if (!parsed || parsed.units === 0n) {
    throw new Error(`"${rate}" is no rate: give fiat units per one stablecoin as a positive decimal, like 0.92.`);
  }
  if (until !== null && until <= clock.now()) throw new Error('The end must lie in the future.');
  await upsertOverride(db, code, rate, until);
}

/**
 * Goes back to what the sources say.
 *
 * @returns false when no override was set
 * @throws Error as a sentence when the code is no currency
 */
export async function clearOverride(db: Database, code: string): Promise<boolean> {
  refuseUnknown(code);
  return deleteOverride(db, code);
}

function refuseUnknown(code: string): void {
  if (currencyExponent(code) === null) {
    throw new Error(`"${code}" is no currency: give an ISO 4217 code in upper case, like EUR.`);
  }
}
