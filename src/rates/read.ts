import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { currencyExponent } from '../lib/money.ts';
import { usableRate } from './quote.ts';
import { selectIsKnown, selectQuote } from './store.ts';

/** True for a currency that can be priced: it has an ISO 4217 exponent, and a rate was fetched or set at some time. */
export async function isKnownCurrency(db: Database, code: string): Promise<boolean> {
  if (currencyExponent(code) === null) return false;
  return selectIsKnown(db, code);
}

/** The rate of a currency now (fiat units per one stablecoin, decimal); null when there is none, or it is too old. */
export async function readRate({ db, clock }: Pick<Context, 'db' | 'clock'>, code: string): Promise<string | null> {
  return usableRate(await selectQuote(db, code), clock.now());
}
