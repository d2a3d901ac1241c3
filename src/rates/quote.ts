import type { Sql, Tx } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';

type Fragment = ReturnType<Sql | Tx>;

/**
 * The maximum age of a rate for a new request. A rate further than this in the future is not used either: a clock has
 * jumped.
 */
export const maxRateAgeMs = 10 * minuteMs;

/**
 * A rate as the gate's statement returns it: from an override, which does not age until it ends, or from the sources.
 *
 * `source` is `override`, or the names of the sources whose median it is, sorted and separated by commas.
 */
export type Quote = { rate: string; fetched_at: string | null; source: string };

/** The condition for an override `o` to be in force: it has no end, or the end is in the future. */
export function isInForce(sql: Sql | Tx) {
  return sql`(o.until is null or o.until > now())`;
}

/** A select of one json `Quote` for a currency (a column or a parameter), null when the currency has no rate. */
export function quoteOf(sql: Sql | Tx, code: Fragment | string) {
  return sql`(
    select jsonb_build_object('rate', coalesce(o.rate, r.rate),
      'fetched_at', case when o.rate is null then r.fetched_at end,
      'source', case when o.rate is not null then 'override'
        else (select string_agg(s->>'source', ', ' order by s->>'source') from json_array_elements(r.sources) s) end)
    from (select ${code}::text as code) wanted left join rates r using (code)
      left join rate_overrides o on o.code = wanted.code and ${isInForce(sql)}
    where r.rate is not null or o.rate is not null)`;
}

/** The rate to use now (fiat units per one stablecoin, decimal); null when there is none or it is too old. */
export function usableRate(quote: Pick<Quote, 'rate' | 'fetched_at'> | null, now: Date): string | null {
  if (!quote) return null;
  if (quote.fetched_at !== null && Math.abs(now.getTime() - Date.parse(quote.fetched_at)) > maxRateAgeMs) return null;
  return quote.rate;
}
