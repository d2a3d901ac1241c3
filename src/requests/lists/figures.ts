import type { Context } from '../../context.ts';
import type { Database, Scope, Tx } from '../../db/connection.ts';
import { dayMs, minuteMs } from '../../lib/durations.ts';
import { dayOf } from '../../lib/time.ts';
import {
  type ConcernCounts,
  type DayVolume,
  type SampleRow,
  selectConcerns,
  selectSample,
  selectVolume,
} from './figures-store.ts';

export type { ConcernCounts, DayVolume } from './figures-store.ts';

/** Share and time to pay are computed from this many requests at most, so that the cost does not grow with them. */
const sampleSize = 1_000;
/** Requests that need attention are counted up to this number. */
export const maxRequestsCounted = 1_000;
/** The verifying node's clock dates a payment, so a day stays open this long in case clocks differ. */
export const dayStaysOpenMs = 10 * minuteMs;
const maxKept = 1_000;

/** How a partner's business goes in one mode. */
export type Figures = {
  /** The days (UTC, `YYYY-MM-DD`) of the period, the oldest first. */
  days: string[];
  volume: DayVolume[];
  sample: SampleRow;
  concerns: ConcernCounts;
};

/**
 * Payments of the last days, including today, and the outcome of that period's requests.
 *
 * @param dayCount 1 to 90
 */
export async function readFigures(ctx: Context, scope: Scope, dayCount: number): Promise<Figures> {
  const nowMs = ctx.clock.now().getTime();
  const days = Array.from({ length: dayCount }, (_, i) => dayOf(nowMs - (dayCount - 1 - i) * dayMs));
  const since = new Date(`${days[0]}T00:00:00Z`);
  const [volume, sample, concerns] = await ctx.db.scoped(scope, (tx) =>
    Promise.all([
      readVolume(ctx.db, tx, scope, days, nowMs),
      selectSample(tx, scope, since, sampleSize),
      selectConcerns(tx, scope, since, maxRequestsCounted),
    ]),
  );
  return { days, volume, sample, concerns };
}

type Closed = { from: string; to: string; rows: DayVolume[] };
const closedDays = new WeakMap<Database, Map<string, Closed>>();

/** Past days no longer change: each process sums them once and queries only what came since. */
async function readVolume(db: Database, tx: Tx, scope: Scope, days: string[], nowMs: number): Promise<DayVolume[]> {
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const kept = closedDays.get(db) ?? new Map<string, Closed>();
  closedDays.set(db, kept);
  const key = `${scope.partnerId} ${scope.testMode}`;
  const known = kept.get(key);
  const covered = known && known.from <= first ? known : null;
  const fresh = await selectVolume(tx, scope, covered ? dayAfter(covered.to) : first, last);
  const rows = [...(covered?.rows ?? []), ...fresh];
  const lastClosed = dayOf(nowMs - dayStaysOpenMs - dayMs);
  if (kept.size >= maxKept) kept.clear();
  kept.set(key, { from: covered?.from ?? first, to: lastClosed, rows: rows.filter(({ day }) => day <= lastClosed) });
  return rows.filter(({ day }) => day >= first);
}

function dayAfter(day: string): string {
  return dayOf(Date.parse(`${day}T00:00:00Z`) + dayMs);
}
