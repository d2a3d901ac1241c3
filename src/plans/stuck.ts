import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import type { Scope } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';
import { countUnexplained, type StuckPlan, selectStuck, updateDue } from './stuck-store.ts';

const maxListed = 100;
const maxCounted = 1000;
/** A temporary failure is over by then. */
const stuckMs = dayMs;

type Db = Pick<Context, 'db' | 'clock'>;

const stuckSince = ({ clock }: Db) => new Date(clock.now().getTime() - stuckMs);

/** Operators: plans whose charge has failed for more than a day, the longest first; at most 100. */
export const listStuckPlans = (ctx: Db): Promise<StuckPlan[]> => selectStuck(ctx.db.sql, stuckSince(ctx), maxListed);

/** Makes a failing plan's charge due at the loop's next turn; false when it no longer fails. */
export function retryPlan(ctx: Db, actor: Actor, scope: Scope, id: string): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    if (!(await updateDue(tx, scope, id, ctx.clock.now()))) return false;
    await audit(ctx, tx, actor, { ...scope, action: 'plan.retried', object: { kind: 'plan', id }, details: {} });
    return true;
  });
}

/**
 * Raises an alarm while a plan has failed for more than a day without a known reason: a missing rate has its own
 * alarms.
 */
export async function watchStuckPlans(ctx: Db): Promise<void> {
  const { sql } = ctx.db;
  const count = await countUnexplained(sql, stuckSince(ctx), maxCounted);
  if (count === 0) return clearAlarm(sql, 'plans_failing');
  await raiseAlarm(sql, { kind: 'plans_failing', subject: '', details: { count } });
}
