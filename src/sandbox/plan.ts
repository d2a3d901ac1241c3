import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { nestedInScope } from '../db/nested.ts';
import { hourMs } from '../lib/durations.ts';
import { dayOf } from '../lib/time.ts';
import { createPlan } from '../plans/create.ts';
import { movePlanDue } from '../plans/move-due.ts';
import type { PlanRow } from '../plans/read.ts';

/** 12.00 of most currencies. */
export const usualFiatInt = 1200;

/**
 * Creates a monthly plan that is charged automatically. Its first charge is due in an hour, so that somebody can agree
 * first.
 *
 * @param fiatInt minor units of the merchant's currency
 * @throws Refusal as `createPlan`; Error if the merchant has too many open plans
 */
export function createSandboxPlan(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  merchant: { id: string; display_currency: string },
  fiatInt: number,
): Promise<PlanRow> {
  const now = ctx.clock.now();
  return ctx.db.scoped(scope, async (tx) => {
    const inner = { ...ctx, db: nestedInScope(tx, scope, ctx.db) };
    const plan = {
      ...{ name: 'Membership', fiatInt, customerName: 'Ada Lovelace', customerEmail: null, customerPhone: null },
      ...{ every: 1, period: 'month' as const, firstOn: dayOf(now), maxCharges: null, metadata: '{}' },
      ...{ collect: 'automatic' as const, capFiatInt: fiatInt, reservePercent: 10, afterPastDue: 'link' as const },
    };
    const made = await createPlan(inner, actor, scope, plan, {
      accountId: merchant.id,
      formKey: randomUUID(),
      currency: merchant.display_currency,
      language: 'en',
    });
    if ('tooMany' in made) throw new Error('This merchant has reached the limit of open plans.');
    await movePlanDue(tx, scope, made.id, new Date(now.getTime() + hourMs));
    return made;
  });
}
