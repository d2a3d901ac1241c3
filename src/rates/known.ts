import type { Database, Sql } from '../db/connection.ts';
import { currencyExponent } from '../lib/money.ts';

/** A boolean expression: this currency has a rate, fetched or set at some time. The exponent is asked of `lib/money`. */
export function currencyKnown(sql: Sql, code: string) {
  return sql`(exists (select from rates where code = ${code}) or exists (select from rate_overrides where code = ${code}))`;
}

/** True for a currency that can be priced: an ISO 4217 exponent is known, and a rate was fetched or set at some time. */
export async function isKnownCurrency(db: Database, code: string): Promise<boolean> {
  if (currencyExponent(code) === null) return false;
  const [row] = await db.sql<{ known: boolean }[]>`select ${currencyKnown(db.sql, code)} as known`;
  return row?.known === true;
}
