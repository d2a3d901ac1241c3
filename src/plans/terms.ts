import type { Actor } from '../audit/actions.ts';
import { withAuditIn } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { dayMs } from '../lib/durations.ts';
import { isUuid } from '../lib/ids.ts';
import { countPlanMails } from '../mail/outbox.ts';
import { readMerchant } from '../merchants/read.ts';
import type { PlanChange } from './form.ts';
import type { PlanOf } from './lifecycle.ts';
import { endMandate } from './mandates/end.ts';
import { selectPlanFacts } from './mandates/facts-store.ts';
import { queueAskMail } from './mandates/mails.ts';
import { type EndReason, type MandateRow, selectActive } from './mandates/store.ts';
import { lockPlan, updateTerms } from './store.ts';

/** A customer who got this many mails about a plan within a day is not asked again: the merchant can share the link. */
const maxAskedInDay = 5;

/**
 * Changes the amount of a plan's charges and how they are paid, in the merchant's current currency. The customer's
 * mandate stays in use as long as it covers the change; otherwise it ends, and the customer is asked again.
 *
 * @param currency the currency in which the amount was typed
 * @returns false when the plan has ended
 * @throws Refusal not_found, currency_mismatch
 */
export async function changeTerms(
  ctx: Context,
  actor: Actor,
  { scope, accountId, id }: PlanOf,
  change: PlanChange,
  currency: string,
): Promise<boolean> {
  const merchant = isUuid(id) ? await readMerchant(ctx, scope, accountId) : null;
  if (!merchant) throw refuse('not_found');
  const expected = merchant.display_currency;
  if (currency !== expected) throw refuse('currency_mismatch', { expected_fiat_code: expected });
  return withAuditIn(
    ctx,
    scope,
    actor,
    (inner) =>
      inner.db.scoped(scope, async (tx) => {
        const plan = await lockPlan(tx, scope, accountId, id);
        if (!plan) throw refuse('not_found');
        if (plan.state === 'ended') return false;
        await updateTerms(tx, scope, id, { ...change, fiatCode: currency }, ctx.clock.now());
        const mandate = await selectActive(tx, scope, id);
        const reason = mandate && endedBy(mandate, change, currency);
        if (mandate && reason) await endMandate(inner, actor, scope, mandate.id, { reason });
        const facts = await selectPlanFacts(tx, scope, id);
        // If there was a mandate, its end has already asked the customer.
        const isNew = !mandate && change.collect === 'automatic' && plan.collect === 'link';
        const since = new Date(ctx.clock.now().getTime() - dayMs);
        if (facts && isNew && (await countPlanMails(tx, scope, id, since)) < maxAskedInDay) {
          await queueAskMail(ctx, tx, scope, facts);
        }
        return true;
      }),
    (changed) =>
      changed
        ? {
            ...scope,
            action: 'plan.changed',
            object: { kind: 'plan', id },
            details: { amount: change.fiatInt, currency },
          }
        : null,
  );
}

/** Why a change ends a mandate; null if the mandate covers it. */
function endedBy(mandate: MandateRow, change: PlanChange, currency: string): EndReason | null {
  if (change.collect === 'link') return 'stopped_by_merchant';
  if (mandate.fiat_code !== currency) return 'currency_changed';
  return BigInt(change.fiatInt) > BigInt(mandate.cap_fiat_int) ? 'above_cap' : null;
}
