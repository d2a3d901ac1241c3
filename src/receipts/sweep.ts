import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { dayMs, minuteMs } from '../lib/durations.ts';
import { channelsFor } from './enqueue.ts';
import { insertReceipts } from './store.ts';
import { lockSweptTo, type SweptRequest, type SweptTo, selectVerified, updateSweptTo } from './sweep-store.ts';

const batch = 500;
const batchesPerPass = 20;
/** By then a verification has committed, whichever node's clock wrote its time. */
const settledMs = 2 * minuteMs;
/** After this time nobody wants a receipt any more. */
const wantedMs = 3 * dayMs;

/** After so many failures in one pass it is probably not the requests that are at fault, and the pass ends. */
const maxFailed = 5;

/**
 * Stores the receipts that could not be stored when their requests were verified. Walks through verified requests in
 * order and remembers its position. One that fails delays no other: the pass goes on behind it, and the next pass
 * begins with it again.
 *
 * @returns how many requests got theirs
 */
export async function sweepReceipts(ctx: Context, signal: AbortSignal): Promise<number> {
  let mended = 0;
  let from: SweptTo | null = null;
  const faults: string[] = [];
  for (let i = 0; i < batchesPerPass && faults.length < maxFailed && !signal.aborted; i++) {
    const swept: Swept | null = await sweepBatch(ctx, from, faults.length).catch((error) => {
      return { mended: 0, more: false, faults: [(error as Error).message], last: null };
    });
    if (!swept) return mended; // the other node reports its result
    mended += swept.mended;
    faults.push(...swept.faults);
    from = swept.last;
    if (!swept.more) break;
  }
  const [fault] = faults;
  if (fault === undefined) await clearAlarm(ctx.db.sql, 'receipts_missing');
  else {
    ctx.log.error({ fault }, 'missing receipts could not be stored');
    await raiseAlarm(ctx.db.sql, { kind: 'receipts_missing', subject: '', details: { fault } });
  }
  if (mended > 0) ctx.log.warn({ requests: mended }, 'missing receipts were stored');
  return mended;
}

type Swept = { mended: number; more: boolean; faults: string[]; last: SweptTo | null };

/**
 * Null while another node does this.
 *
 * @param from where it begins; null: at the stored position
 * @param failed how many failed before in this pass; the stored position does not move past the first of them
 */
function sweepBatch(ctx: Context, from: SweptTo | null, failed: number): Promise<Swept | null> {
  const nowMs = ctx.clock.now().getTime();
  return ctx.db.transaction(async (tx) => {
    const stored = await lockSweptTo(tx);
    if (!stored) return null;
    const to = from ?? stored;
    const oldest = new Date(nowMs - wantedMs);
    const after = to.verified_at < oldest ? { ...to, verified_at: oldest } : to;
    const rows = await selectVerified(tx, after, new Date(nowMs - settledMs), batch);
    const swept: Swept = { mended: 0, more: rows.length === batch, faults: [], last: rows.at(-1) ?? null };
    let done: SweptRequest | undefined;
    for (const row of rows) {
      if (failed + swept.faults.length === maxFailed) break;
      const scope = scopeOfRow(row);
      const channels = row.owed ? channelsFor(ctx, scope, { id: row.request_id, ...row }) : [];
      const { partnerId: partner_id, testMode: test_mode } = scope;
      const owed = { partner_id, test_mode, request_id: row.request_id, channels };
      const fault = channels.length > 0 ? await insertReceipts(tx, [owed]) : null;
      if (fault !== null) swept.faults.push(fault);
      else if (channels.length > 0) swept.mended++;
      if (failed + swept.faults.length === 0) done = row;
    }
    if (done) await updateSweptTo(tx, done);
    return swept;
  });
}
