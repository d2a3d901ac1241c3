import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { dayMs, minuteMs } from '../lib/durations.ts';
import { channelsFor } from './enqueue.ts';
import { insertReceipts } from './store.ts';
import { lockSweptTo, type SweptRequest, selectVerified, updateSweptTo } from './sweep-store.ts';

const batch = 500;
const batchesPerPass = 20;
/** By then a verification has committed, whichever node's clock wrote its time. */
const settledMs = 2 * minuteMs;
/** After this time nobody wants a receipt any more. */
const wantedMs = 3 * dayMs;

/**
 * Stores the receipts that could not be stored when their requests were verified. Walks through verified requests in
 * order and remembers its position, so each is visited once. If storing still fails, it stops until the next turn.
 *
 * @returns how many requests got theirs
 */
export async function sweepReceipts(ctx: Context, signal: AbortSignal): Promise<number> {
  let mended = 0;
  for (let i = 0; i < batchesPerPass && !signal.aborted; i++) {
    const swept = await sweepBatch(ctx).catch((error) => ({ mended: 0, more: false, fault: (error as Error).message }));
    if (!swept) return mended; // the other node reports its result
    mended += swept.mended;
    if (swept.fault !== null) {
      ctx.log.error({ fault: swept.fault }, 'missing receipts could not be stored');
      await raiseAlarm(ctx.db.sql, { kind: 'receipts_missing', subject: '', details: { fault: swept.fault } });
      return mended;
    }
    if (!swept.more) break;
  }
  await clearAlarm(ctx.db.sql, 'receipts_missing');
  if (mended > 0) ctx.log.warn({ requests: mended }, 'missing receipts were stored');
  return mended;
}

type Swept = { mended: number; more: boolean; fault: string | null };

/** Null while another node does this. */
function sweepBatch(ctx: Context): Promise<Swept | null> {
  const nowMs = ctx.clock.now().getTime();
  return ctx.db.transaction(async (tx) => {
    const to = await lockSweptTo(tx);
    if (!to) return null;
    const oldest = new Date(nowMs - wantedMs);
    const after = to.verified_at < oldest ? { ...to, verified_at: oldest } : to;
    const rows = await selectVerified(tx, after, new Date(nowMs - settledMs), batch);
    let mended = 0;
    let last: SweptRequest | undefined;
    for (const row of rows) {
      const scope = scopeOfRow(row);
      const channels = row.owed ? channelsFor(ctx, scope, { id: row.request_id, ...row }) : [];
      const { partnerId: partner_id, testMode: test_mode } = scope;
      const owed = { partner_id, test_mode, request_id: row.request_id, channels };
      const fault = channels.length > 0 ? await insertReceipts(tx, [owed]) : null;
      if (fault !== null) {
        if (last) await updateSweptTo(tx, last);
        return { mended, more: false, fault };
      }
      if (channels.length > 0) mended++;
      last = row;
    }
    if (last) await updateSweptTo(tx, last);
    return { mended, more: rows.length === batch, fault: null };
  });
}
