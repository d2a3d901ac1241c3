import type { Sql } from '../db/connection.ts';

type Fragment = ReturnType<Sql>;

/** Nothing older is used for a new request. */
export const maxRateAgeMs = 10 * 60_000;

/** A rate as the gate's statement returns it: from an override, which does not age, or from the sources. */
export type Quote = { rate: string; fetched_at: string | null };

/** A select of one json `Quote` for a currency (a column or a parameter), null when the currency has no rate. */
export function quoteOf(sql: Sql, code: Fragment | string) {
  return sql`(
    select jsonb_build_object('rate', coalesce(o.rate, r.rate), 'fetched_at', case when o.rate is null then r.fetched_at end)
    from (select ${code}::text as code) wanted left join rates r using (code) left join rate_overrides o using (code)
    where r.rate is not null or o.rate is not null)`;
}

/** The rate to use now (fiat units per one stablecoin, decimal); null when there is none or it is too old. */
export function usableRate(quote: Quote | null, now: Date): string | null {
  if (!quote) return null;
  if (quote.fetched_at !== null && now.getTime() - Date.parse(quote.fetched_at) > maxRateAgeMs) return null;
  return quote.rate;
}
