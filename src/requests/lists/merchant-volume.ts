import type { Context } from '../../context.ts';
import type { Database, Scope, Tx } from '../../db/connection.ts';
import { dayMs } from '../../lib/durations.ts';
import { dayStaysOpenMs } from './figures.ts';
import { type MerchantSum, selectMerchantSums } from './figures-store.ts';

/** What a merchant was paid in one currency: sums of minor units, and the number of payments. */
export type MerchantVolume = { code: string; recent: Sum; all: Sum };
type Sum = { payments: number; fiatInt: bigint };

/** The days that `recent` covers. */
export const recentDays = 30;
const maxKept = 2_000;

/** The sums of whole days; `from` is null for all until then. In milliseconds. */
type Closed = { from: number | null; until: number; rows: MerchantSum[] };
const closedSums = new WeakMap<Database, Map<string, Closed>>();

/**
 * A merchant's verified requests by currency, of the last 30 days and of all time, the currency with the most payments
 * first. Past days no longer change: each process sums them once a day, and then queries only what came since the last
 * midnight, and of the first of the 30 days what is left of it.
 */
export async function readMerchantVolume(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  scope: Scope,
  accountId: string,
): Promise<MerchantVolume[]> {
  const nowMs = clock.now().getTime();
  const lastMidnight = Math.floor((nowMs - dayStaysOpenMs) / dayMs) * dayMs;
  const since = nowMs - recentDays * dayMs;
  const firstMidnight = Math.ceil(since / dayMs) * dayMs;
  const [closed, days, firstDay, today] = await db.scoped(scope, (tx) =>
    Promise.all([
      readClosed(db, tx, scope, accountId, { from: null, until: lastMidnight }),
      readClosed(db, tx, scope, accountId, { from: firstMidnight, until: lastMidnight }),
      selectMerchantSums(tx, scope, accountId, new Date(since), new Date(firstMidnight)),
      selectMerchantSums(tx, scope, accountId, new Date(lastMidnight), null),
    ]),
  );
  const all = merge([...closed, ...today]);
  const lately = merge([...firstDay, ...days, ...today]);
  return [...all]
    .map(([code, sum]) => ({ code, all: sum, recent: lately.get(code) ?? { payments: 0, fiatInt: 0n } }))
    .sort((a, b) => b.all.payments - a.all.payments || (a.code < b.code ? -1 : 1));
}

/**
 * The sums of all days between two midnights. If the sums until an earlier midnight are known, only later days are
 * read.
 */
async function readClosed(
  db: Database,
  tx: Tx,
  scope: Scope,
  accountId: string,
  { from, until }: Pick<Closed, 'from' | 'until'>,
): Promise<MerchantSum[]> {
  const kept = closedSums.get(db) ?? new Map<string, Closed>();
  closedSums.set(db, kept);
  const key = `${scope.partnerId} ${scope.testMode} ${accountId} ${from === null ? 'all' : 'recent'}`;
  const known = kept.get(key);
  const base = known && known.from === from && known.until <= until ? known : null;
  if (base?.until === until) return base.rows;
  const start = base?.until ?? from;
  const read = await selectMerchantSums(tx, scope, accountId, start === null ? null : new Date(start), new Date(until));
  if (kept.size >= maxKept) kept.clear();
  const merged = [...merge([...(base?.rows ?? []), ...read])];
  const rows = merged.map(([fiat_code, { payments, fiatInt }]) => ({ fiat_code, payments, fiat_int: String(fiatInt) }));
  kept.set(key, { from, until, rows });
  return rows;
}

function merge(rows: MerchantSum[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { fiat_code: code, payments, fiat_int } of rows) {
    const before = sums.get(code) ?? { payments: 0, fiatInt: 0n };
    sums.set(code, { payments: before.payments + payments, fiatInt: before.fiatInt + BigInt(fiat_int) });
  }
  return sums;
}
