import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { currencyExponent, parseDecimal } from '../lib/money.ts';
import { RateRefusal } from './refusal.ts';
import { deleteOverride, upsertOverride } from './store.ts';

/**
 * Sets a currency's rate (fiat units per one stablecoin). It neither ages nor is refreshed away until it
 * is cleared or ends; after its end the sources count again.
 *
 * @param until when it ends by itself; null: when it is cleared
 * @throws RateRefusal currency_unknown, rate_malformed, end_past
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
    const message = `"${rate}" is no rate: give fiat units per one stablecoin as a positive decimal, like 0.92.`;
    throw new RateRefusal('rate_malformed', message);
  }
  if (until !== null && until <= clock.now()) throw new RateRefusal('end_past', 'The end must lie in the future.');
  await upsertOverride(db, code, rate, until);
}

/**
 * Goes back to what the sources say.
 *
 * @returns false when no override was set
 * @throws RateRefusal currency_unknown
 */
export async function clearOverride(db: Database, code: string): Promise<boolean> {
  refuseUnknown(code);
  return deleteOverride(db, code);
}

function refuseUnknown(code: string): void {
  if (currencyExponent(code) === null) {
    const message = `"${code}" is no currency: give an ISO 4217 code in upper case, like EUR.`;
    throw new RateRefusal('currency_unknown', message);
  }
}
