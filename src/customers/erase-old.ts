import { audit, theService } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';
import { findOldPlans, forgetPlans } from '../plans/customer.ts';
import { findMadeBetween } from '../requests/customer.ts';
import { byScope, eraseRequests } from './erase.ts';
import { lockErasedTo, selectClocks, updateErasedTo } from './erase-store.ts';

const batch = 500;
const batchesPerPass = 100;

/**
 * Removes personal data from requests that have reached the configured age, and from plans that ended that long ago, in
 * batches, each in its own transaction. Does nothing unless configured. Requests are processed in the order of
 * creation, so each is visited once.
 *
 * @returns how many requests lost something
 */
export async function eraseOld(ctx: Context, signal: AbortSignal): Promise<number> {
  const days = ctx.config.eraseCustomersAfterDays;
  if (days === null) return 0;
  const before = new Date(ctx.clock.now().getTime() - days * dayMs);
  let erased = 0;
  for (const row of await selectClocks(ctx.db, before)) {
    const scope = scopeOfRow(row);
    for (let i = 0; i < batchesPerPass && !signal.aborted; i++) {
      const count = await eraseBatch(ctx, scope, before);
      if (count === null) break;
      erased += count;
    }
  }
  for (let i = 0; i < batchesPerPass && !signal.aborted; i++) if ((await forgetOldPlans(ctx, before)) < batch) break;
  if (erased > 0) ctx.log.info({ requests: erased, before }, 'old personal data was removed');
  return erased;
}

/** Null when nothing is left. */
function eraseBatch(ctx: Context, scope: Scope, before: Date): Promise<number | null> {
  return ctx.db.scoped(scope, async (tx) => {
    const after = await lockErasedTo(tx, scope);
    const rows = await findMadeBetween(tx, scope, { after, before }, batch);
    const last = rows.at(-1);
    if (!last) return null;
    const ids = rows.map(({ id }) => id);
    const erased = await eraseRequests(tx, scope, ids);
    await updateErasedTo(tx, scope, last.created_at);
    if (erased.requests > 0) {
      await audit(ctx, tx, theService, {
        ...scope,
        action: 'customer.erased',
        object: { kind: 'customer', id: 'age' },
        details: { by: 'age', ...erased },
      });
    }
    return erased.requests;
  });
}

/** Returns how many were forgotten. */
function forgetOldPlans(ctx: Context, before: Date): Promise<number> {
  return ctx.db.transaction(async (tx) => {
    const forgotten = await forgetPlans(tx, await findOldPlans(tx, before, batch), ctx.clock.now());
    for (const { scope, plans } of byScope(forgotten, [])) {
      await audit(ctx, tx, theService, {
        ...scope,
        action: 'customer.erased',
        object: { kind: 'customer', id: 'age' },
        details: { by: 'age', plans: plans.length },
      });
    }
    return forgotten.length;
  });
}
