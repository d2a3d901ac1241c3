import { audit, theService } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { isUnreachable, type Scope } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';
import { type CustomerPlan, erasePlans, findOldPlans } from '../plans/customer.ts';
import { findMadeBetween } from '../requests/customer.ts';
import { byScope, eraseRequests } from './erase.ts';
import { lockErasedTo, selectClocks, updateErasedTo } from './erase-store.ts';

const batch = 500;
const batchesPerPass = 100;

/**
 * Removes personal data from requests that have reached the configured age, and from plans that ended that long ago, in
 * batches, each in its own transaction. Does nothing unless configured. Requests are processed in the order of
 * creation, so each is visited once. Partners take turns, and a failure of one does not delay the others. The operator
 * is told of what a pass leaves undone, and the next pass continues there.
 *
 * @param maxBatches of requests of each partner, and of plans, that one pass removes
 * @returns how many requests lost something
 */
export async function eraseOld(ctx: Context, signal: AbortSignal, maxBatches = batchesPerPass): Promise<number> {
  const days = ctx.config.eraseCustomersAfterDays;
  if (days === null) return 0;
  const before = new Date(ctx.clock.now().getTime() - days * dayMs);
  let erased = 0;
  let left = (await selectClocks(ctx.db, before)).map(scopeOfRow);
  for (let i = 0; i < maxBatches && left.length > 0 && !signal.aborted; i++) {
    const more: Scope[] = [];
    for (const scope of left) {
      if (signal.aborted) break;
      await unlessItFails(ctx, scope, async () => {
        const count = await eraseBatch(ctx, scope, before);
        if (count === null) return;
        erased += count;
        more.push(scope);
      });
    }
    left = more;
  }
  if (left.length > 0 && !signal.aborted) warnOfLeft(ctx, 'requests');
  await eraseOldPlans(ctx, before, signal, maxBatches);
  if (erased > 0) ctx.log.info({ requests: erased, before }, 'old personal data was removed');
  return erased;
}

const warnOfLeft = ({ log }: Context, of: 'requests' | 'plans') =>
  log.warn({ of }, 'more personal data was old than one pass removes: the next one goes on');

/** False where it failed: the next run tries again. */
async function unlessItFails(ctx: Context, { partnerId }: Scope, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isUnreachable(error)) throw error;
    ctx.log.error({ err: error, partner: partnerId }, 'old personal data of a partner could not be removed');
    return false;
  }
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

async function eraseOldPlans(ctx: Context, before: Date, signal: AbortSignal, maxBatches: number): Promise<void> {
  const failed = new Map<string, Scope>();
  for (let i = 0; i < maxBatches && !signal.aborted; i++) {
    const old = await findOldPlans(ctx.db.sql, before, { limit: batch, except: [...failed.values()] });
    for (const { scope, plans } of byScope(old, [])) {
      const done = await unlessItFails(ctx, scope, () => erasePlansOf(ctx, scope, plans));
      if (!done) failed.set(`${scope.partnerId} ${scope.testMode}`, scope);
    }
    if (old.length < batch) return;
  }
  if (!signal.aborted) warnOfLeft(ctx, 'plans');
}

function erasePlansOf(ctx: Context, scope: Scope, plans: CustomerPlan[]): Promise<void> {
  return ctx.db.transaction(async (tx) => {
    const forgotten = await erasePlans(tx, plans, ctx.clock.now());
    if (forgotten.length === 0) return;
    await audit(ctx, tx, theService, {
      ...scope,
      action: 'customer.erased',
      object: { kind: 'customer', id: 'age' },
      details: { by: 'age', plans: forgotten.length },
    });
  });
}
