import type { Context } from '../context.ts';
import { usableRate } from './quote.ts';
import { percentAway, type SourceRate } from './rules.ts';
import { type RateRow, selectRates } from './store.ts';

export type RateView = {
  code: string;
  /** Fiat units per one stablecoin, decimal. */
  rate: string;
  /** True while an operator's override replaces the sources. */
  override: boolean;
  /** When the override ends automatically; null when it does not, and without one. */
  override_until: string | null;
  /** The sources' latest rate, also beside an override; null when they never had one. */
  sources_rate: string | null;
  /** How far an override is from the sources' rate, in percent with its sign; null without either. */
  override_percent: string | null;
  /** False if it is too old for new requests. */
  usable: boolean;
  fetched_at: string | null;
  /** Each source's rate at the last fetch; empty if there was none. */
  sources: SourceRate[];
};

/** All configured rates, by code. */
export async function listRates(ctx: Context): Promise<RateView[]> {
  const now = ctx.clock.now();
  return (await selectRates(ctx.db)).map((row) => toView(row, now));
}

function toView(row: RateRow, now: Date): RateView {
  const fetchedAt = row.fetched_at?.toISOString() ?? null;
  return {
    code: row.code,
    rate: row.rate,
    override: row.is_override,
    override_until: row.until?.toISOString() ?? null,
    sources_rate: row.fetched_rate,
    override_percent: row.is_override && row.fetched_rate !== null ? percentAway(row.rate, row.fetched_rate) : null,
    usable: usableRate({ rate: row.rate, fetched_at: row.is_override ? null : fetchedAt }, now) !== null,
    fetched_at: fetchedAt,
    sources: row.sources === null ? [] : (JSON.parse(row.sources) as SourceRate[]),
  };
}

/** The currencies that have a rate, as ISO 4217 codes. */
export async function listCurrencies(ctx: Context): Promise<string[]> {
  return (await listRates(ctx)).map(({ code }) => code);
}
