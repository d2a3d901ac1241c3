import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { nestedInScope } from '../db/nested.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { dayOf } from '../lib/time.ts';
import { stopCollecting } from './collect/stop.ts';
import { endMandate } from './mandates/end.ts';
import { selectActive } from './mandates/store.ts';
import { afterPause, startOf } from './rules.ts';
import { courseOf, lockPlan, type PlanRow, updateEnded, updatePaused, updateResumed } from './store.ts';

/** A change of a plan's state, which is allowed in the states `from`. */
type StateChange = {
  action: 'plan.paused' | 'plan.resumed' | 'plan.ended';
  from: PlanRow['state'][];
  work(tx: Tx, plan: PlanRow): Promise<unknown>;
};

/** Changes a plan under its lock; false if its state does not allow the change. */
async function change(
  ctx: Context,
  actor: Actor,
  { scope, accountId, id }: PlanOf,
  { action, from, work }: StateChange,
): Promise<boolean> {
  if (!isUuid(id)) throw refuse('not_found');
  return ctx.db.scoped(scope, async (tx) => {
    const plan = await lockPlan(tx, scope, accountId, id);
    if (!plan) throw refuse('not_found');
    if (!from.includes(plan.state)) return false;
    await work(tx, plan);
    await audit(ctx, tx, actor, { ...scope, action, object: { kind: 'plan', id: plan.id }, details: {} });
    return true;
  });
}

/** A plan of one merchant. */
export type PlanOf = { scope: Scope; accountId: string; id: string };

/**
 * Pauses a plan: nothing is charged until it is resumed, and charges that wait for another attempt are not made.
 *
 * @returns false when it is not active
 * @throws Refusal not_found
 */
export function pausePlan(ctx: Context, actor: Actor, plan: PlanOf): Promise<boolean> {
  return change(ctx, actor, plan, {
    action: 'plan.paused',
    from: ['active'],
    work: async (tx, { id }) => {
      await updatePaused(tx, plan.scope, id);
      await stopCollecting(tx, plan.scope, id, 'plan_paused', ctx.clock.now());
    },
  });
}

/**
 * Resumes a paused plan at its next future date: nothing is charged for the pause.
 *
 * @returns false when it is not paused
 * @throws Refusal not_found
 */
export function resumePlan(ctx: Context, actor: Actor, plan: PlanOf): Promise<boolean> {
  return change(ctx, actor, plan, {
    action: 'plan.resumed',
    from: ['paused'],
    work: (tx, row) => {
      const next = afterPause(courseOf(row), dayOf(ctx.clock.now()));
      return updateResumed(tx, plan.scope, row.id, { ...next, dueAt: startOf(next.nextOn) });
    },
  });
}

/**
 * Ends a plan permanently, and with it its customer's mandate. Requests that it created stay as they are.
 *
 * @returns false when it had already ended
 * @throws Refusal not_found
 */
export function endPlan(ctx: Context, actor: Actor, plan: PlanOf): Promise<boolean> {
  const { scope } = plan;
  return change(ctx, actor, plan, {
    action: 'plan.ended',
    from: ['active', 'paused'],
    work: async (tx, { id }) => {
      await updateEnded(tx, scope, id, ctx.clock.now());
      await stopCollecting(tx, scope, id, 'plan_ended', ctx.clock.now());
      const mandate = await selectActive(tx, scope, id);
      const inner = { ...ctx, db: nestedInScope(tx, scope, ctx.db) };
      if (mandate) await endMandate(inner, actor, scope, mandate.id, { reason: 'plan_ended' });
    },
  });
}
