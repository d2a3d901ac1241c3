import { audit, theService } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { isConflict } from '../db/conflict.ts';
import { isUnreachable } from '../db/connection.ts';
import { backoffMs } from '../lib/backoff.ts';
import { hourMs, minuteMs } from '../lib/durations.ts';
import { queueWalletNotice } from './notices.ts';
import {
  type DueChange,
  lockWalletOwner,
  selectDueChanges,
  selectStuckChanges,
  updatePostponed,
  updateRecovered,
  updateStopped,
} from './store.ts';

const maxDue = 100;
const waits = { firstMs: minuteMs, maxMs: hourMs };
/** From this many failures on, an operator should look at a recovery. */
const stuckAfter = 3;

/**
 * Loop: applies recoveries whose 48 hours have passed, and ends those whose links expired. One that fails delays no
 * other: it is retried later, and an alarm is raised if it keeps failing.
 *
 * @returns how many were applied or ended
 */
export async function settleRecoveries(ctx: Context): Promise<number> {
  const now = ctx.clock.now();
  let settled = 0;
  for (const due of await selectDueChanges(ctx.db, now, maxDue)) {
    try {
      if (await (due.state === 'signed' ? apply : expire)(ctx, due, now)) settled++;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      if (isConflict(error)) continue; // with a reset, or whatever else changes its merchant: the next pass takes it
      ctx.log.error({ err: error, recovery_id: due.id }, 'a recovery could not be completed; it will be retried');
      const waitMs = backoffMs(due.settle_failures + 1, waits);
      await updatePostponed(ctx.db, due, new Date(now.getTime() + waitMs));
    }
  }
  await watchStuck(ctx);
  return settled;
}

async function apply(ctx: Context, due: DueChange, now: Date): Promise<boolean> {
  const scope = scopeOfRow(due);
  return ctx.db.scoped(scope, async (tx) => {
    await lockWalletOwner(tx, scope, due.account_id); // in the same order as a change by signatures
    const applied = await updateRecovered(tx, scope, due.id, now);
    if (!applied) return false;
    const { account_id: accountId, old_wallet: oldWallet, new_wallet: newWallet } = applied;
    await queueWalletNotice(ctx, tx, scope, accountId, { kind: 'recovered', oldWallet, newWallet: newWallet ?? '' });
    await audit(ctx, tx, theService, {
      ...scope,
      action: 'wallet.changed',
      object: { kind: 'merchant', id: accountId },
      details: { from: oldWallet, to: newWallet },
    });
    return true;
  });
}

async function expire(ctx: Context, due: DueChange, now: Date): Promise<boolean> {
  const scope = scopeOfRow(due);
  return ctx.db.scoped(scope, async (tx) => {
    await lockWalletOwner(tx, scope, due.account_id);
    const ended = await updateStopped(tx, scope, due.id, 'expired', now);
    if (!ended) return false;
    const { account_id: accountId, old_wallet: oldWallet } = ended;
    await queueWalletNotice(ctx, tx, scope, accountId, { kind: 'recovery_stopped', oldWallet, by: 'time' });
    await audit(ctx, tx, theService, {
      ...scope,
      action: 'recovery.expired',
      object: { kind: 'merchant', id: accountId },
      details: {},
    });
    return true;
  });
}

async function watchStuck({ db }: Context): Promise<void> {
  const stuck = await selectStuckChanges(db, stuckAfter, maxDue);
  if (stuck.length === 0) return clearAlarm(db.sql, 'recoveries_stuck');
  const accountIds = stuck.slice(0, 5).map(({ account_id }) => account_id);
  await raiseAlarm(db.sql, { kind: 'recoveries_stuck', subject: '', details: { accountIds, count: stuck.length } });
}
