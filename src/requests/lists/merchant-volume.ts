import type { Context } from '../../context.ts';
import type { Database, Scope, Tx } from '../../db/connection.ts';
import { dayMs, minuteMs } from '../../lib/durations.ts';
import { type MerchantSum, selectMerchantSums } from './figures-store.ts';

/** What a merchant was paid in one currency: sums of minor units, and how many payments they are. */
export type MerchantVolume = { code: string; recent: Sum; all: Sum };
type Sum = { payments: number; fiatInt: bigint };

/** The days that `recent` covers. */
export const recentDays = 30;
/** The verifying node's clock dates a payment, so a day stays open this long in case clocks differ. */
const dayStaysOpenMs = 10 * minuteMs;
const mostKept = 1_000;

type Closed = { until: Date; rows: MerchantSum[] };
const closedSums = new WeakMap<Database, Map<string, Closed>>();

/**
 * A merchant's verified requests by currency, of the last 30 days and of all time, the currency with the most payments
 * first. Past days no longer change: each process sums them once and then queries only what came since.
 */
export async function readMerchantVolume(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  scope: Scope,
  accountId: string,
): Promise<MerchantVolume[]> {
  const nowMs = clock.now().getTime();
  const lastMidnight = new Date(Math.floor((nowMs - dayStaysOpenMs) / dayMs) * dayMs);
  const since = new Date(nowMs - recentDays * dayMs);
  const [closed, today, recent] = await db.scoped(scope, (tx) =>
    Promise.all([
      readClosed(db, tx, scope, accountId, lastMidnight),
      selectMerchantSums(tx, scope, accountId, lastMidnight, null),
      selectMerchantSums(tx, scope, accountId, since, null),
    ]),
  );
  const all = merge([...closed, ...today]);
  const lately = merge(recent);
  return [...all]
    .map(([code, sum]) => ({ code, all: sum, recent: lately.get(code) ?? { payments: 0, fiatInt: 0n } }))
    .sort((a, b) => b.all.payments - a.all.payments || (a.code < b.code ? -1 : 1));
}

/** The sums of all days before a midnight. */
async function readClosed(db: Database, tx: Tx, scope: Scope, accountId: string, until: Date): Promise<MerchantSum[]> {
  const kept = closedSums.get(db) ?? new Map<string, Closed>();
  closedSums.set(db, kept);
  const key = `${scope.partnerId} ${scope.testMode} ${accountId}`;
  const known = kept.get(key);
  if (known && known.until.getTime() === until.getTime()) return known.rows;
  const base = known && known.until < until ? known : null;
  const rows = [...(base?.rows ?? []), ...(await selectMerchantSums(tx, scope, accountId, base?.until ?? null, until))];
  if (kept.size >= mostKept) kept.clear();
  const merged = [...merge(rows)];
  const sums = merged.map(([fiat_code, { payments, fiatInt }]) => ({ fiat_code, payments, fiat_int: String(fiatInt) }));
  kept.set(key, { until, rows: sums });
  return sums;
}

function merge(rows: MerchantSum[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { fiat_code: code, payments, fiat_int } of rows) {
    const before = sums.get(code) ?? { payments: 0, fiatInt: 0n };
    sums.set(code, { payments: before.payments + payments, fiatInt: before.fiatInt + BigInt(fiat_int) });
  }
  return sums;
}
