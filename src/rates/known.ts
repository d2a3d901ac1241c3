import type { Database } from '../db/connection.ts';
import { currencyExponent } from '../lib/money.ts';
import { currencyKnown } from './currency-field.ts';

/** True for a currency that can be priced: it has an ISO 4217 exponent, and a rate was fetched or set at some time. */
export async function isKnownCurrency(db: Database, code: string): Promise<boolean> {
  if (currencyExponent(code) === null) return false;
  const [row] = await db.sql<{ currency_known: boolean }[]>`select ${currencyKnown(db.sql, code)}`;
  return row?.currency_known === true;
}
