import type { Database } from '../db/connection.ts';
import { currencyKnown } from './currency-field.ts';
import { isInForce, type Quote, quoteOf } from './quote.ts';
import type { SourceRate } from './rules.ts';

/** A combined rate, ready to be stored. */
export type CombinedRate = { code: string; rate: string; sources: SourceRate[] };

export type RateRow = {
  code: string;
  /** The rate in use: the override if there is one, otherwise the sources' rate. */
  rate: string;
  is_override: boolean;
  /** The sources' latest rate, even beside an override; null when they never had one. */
  fetched_rate: string | null;
  sources: string | null;
  fetched_at: Date | null;
  /** When the override ends automatically; null when it does not. */
  until: Date | null;
};

/**
 * Stores fetched rates. They belong to the platform, not to a partner, so there is no scope. A slower, older fetch
 * never overwrites a newer one. A rate from the future, fetched while a clock was wrong, is replaced.
 *
 * @param future a stored rate that was fetched after this time counts as one from the future
 */
export async function upsertRates(
  db: Database,
  rates: readonly CombinedRate[],
  fetchedAt: Date,
  future: Date,
): Promise<void> {
  const rows = rates.map(({ code, rate, sources }) => ({ code, rate, sources }));
  await db.sql`
    insert into rates as stored (code, rate, sources, fetched_at)
    select code, rate, sources, ${fetchedAt}
    from json_to_recordset(${JSON.stringify(rows)}::json) as fresh (code text, rate text, sources json)
    order by code
    on conflict (code) do update
      set rate = excluded.rate, sources = excluded.sources, fetched_at = excluded.fetched_at
      where stored.fetched_at <= excluded.fetched_at or stored.fetched_at > ${future}`;
}

/** When the youngest rate was fetched; null before the first. */
export async function selectLastFetch(db: Database): Promise<Date | null> {
  const [row] = await db.sql<{ at: Date | null }[]>`select max(fetched_at) as at from rates`;
  return row?.at ?? null;
}

/** All rates in use, by currency, at most 1,000: overrides in force, and the sources' rates beside or without them. */
export async function selectRates(db: Database): Promise<RateRow[]> {
  return db.sql<RateRow[]>`
    select code, coalesce(o.rate, r.rate) as rate, o.rate is not null as is_override, r.rate as fetched_rate,
      r.sources, r.fetched_at, o.until
    from rates r full join (select * from rate_overrides o where ${isInForce(db.sql)}) o using (code)
    order by code limit 1000`;
}

/** The sources' latest rate for a currency, however old; null when they never had one. */
export async function selectSourcesRate(db: Database, code: string): Promise<string | null> {
  const [row] = await db.sql<{ rate: string }[]>`select rate from rates where code = ${code}`;
  return row?.rate ?? null;
}

/**
 * Sets or replaces an override.
 *
 * @param rate fiat units per stablecoin, a decimal string
 * @param until null: in force until cleared
 */
export async function upsertOverride(db: Database, code: string, rate: string, until: Date | null): Promise<void> {
  await db.sql`
    insert into rate_overrides (code, rate, until) values (${code}, ${rate}, ${until})
    on conflict (code) do update set rate = excluded.rate, set_at = now(), until = excluded.until`;
}

/** Deletes an override; false if there was none, or it had ended. */
export async function deleteOverride(db: Database, code: string): Promise<boolean> {
  const [row] = await db.sql<{ in_force: boolean }[]>`
    delete from rate_overrides o where code = ${code} returning ${isInForce(db.sql)} as in_force`;
  return row?.in_force === true;
}

/** Whether a currency has a rate, however old, or an override. */
export async function selectIsKnown({ sql }: Database, code: string): Promise<boolean> {
  const [row] = await sql<{ currency_known: boolean }[]>`select ${currencyKnown(sql, code)}`;
  return row?.currency_known === true;
}

/** A currency's rate, which may be too old; null when there is none. */
export async function selectQuote({ sql }: Database, code: string): Promise<Quote | null> {
  const [row] = await sql<{ quote: Quote | null }[]>`select ${quoteOf(sql, code)} as quote`;
  return row?.quote ?? null;
}
