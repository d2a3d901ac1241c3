import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { currencyExponent } from '../lib/money.ts';
import { currencyKnown } from './currency-field.ts';
import { type Quote, quoteOf, usableRate } from './quote.ts';

/** True for a currency that can be priced: it has an ISO 4217 exponent, and a rate was fetched or set at some time. */
export async function isKnownCurrency(db: Database, code: string): Promise<boolean> {
  if (currencyExponent(code) === null) return false;
  const [row] = await db.sql<{ currency_known: boolean }[]>`select ${currencyKnown(db.sql, code)}`;
  return row?.currency_known === true;
}

/** The rate of a currency now (fiat units per one stablecoin, decimal); null when there is none, or it is too old. */
export async function readRate({ db, clock }: Pick<Context, 'db' | 'clock'>, code: string): Promise<string | null> {
  const [row] = await db.sql<{ quote: Quote | null }[]>`select ${quoteOf(db.sql, code)} as quote`;
  return usableRate(row?.quote ?? null, clock.now());
}
