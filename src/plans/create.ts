import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { dayMs } from '../lib/durations.ts';
import { mailboxOf } from '../lib/text/email.ts';
import { readMerchant } from '../merchants/read.ts';
import { readPartner } from '../partners/read.ts';
import type { NewPlan } from './form.ts';
import { selectPlanFacts } from './mandates/facts-store.ts';
import { queueAskMail } from './mandates/mails.ts';
import { maxOpenPlans, maxPlansOfAddress, startOf } from './rules.ts';
import { insertPlan, lockNewPlans, type PlanRow, selectPlanEmails, selectPlanOfForm } from './store.ts';

/** The data of a new plan besides its fields. */
export type PlanOrder = {
  accountId: string;
  /** A key for the form: sent twice, it makes one plan. */
  formKey: string;
  /** The currency in which the amount was typed. */
  currency: string;
  /** The language of mails to the customer. */
  language: string;
};

/**
 * Starts a plan. The loop makes its first charge when its date comes.
 *
 * @returns the plan; resubmitting the same form returns the same one. `tooMany`: the merchant has the maximum number of
 * plans, or of those for this customer's e-mail address
 * @throws Refusal not_found, merchant_disabled, partner_disabled, currency_mismatch
 */
export async function createPlan(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  plan: NewPlan,
  { accountId, formKey, currency, language }: PlanOrder,
): Promise<PlanRow | { tooMany: 'plans' | 'ofAddress' }> {
  const merchant = await readMerchant(ctx, scope, accountId);
  if (!merchant) throw refuse('not_found');
  if (merchant.disabled_by_partner || merchant.disabled_by_operator) throw refuse('merchant_disabled');
  const expected = merchant.display_currency;
  if (currency !== expected) throw refuse('currency_mismatch', { expected_fiat_code: expected });
  const partner = await readPartner(ctx.db, merchant.home_portal);
  if (partner?.disabled_at) throw refuse('partner_disabled');
  return ctx.db.scoped(scope, async (tx) => {
    await lockNewPlans(tx, accountId);
    const earlier = await selectPlanOfForm(tx, scope, accountId, formKey);
    if (earlier) return earlier;
    const since = new Date(ctx.clock.now().getTime() - dayMs);
    const emails = await selectPlanEmails(tx, scope, { accountId, since, max: maxOpenPlans });
    if (emails.length >= maxOpenPlans) return { tooMany: 'plans' };
    const mailbox = plan.customerEmail && mailboxOf(plan.customerEmail);
    const ofMailbox = emails.filter((email) => email && mailboxOf(email) === mailbox);
    if (ofMailbox.length >= maxPlansOfAddress) return { tooMany: 'ofAddress' };
    const row = await insertPlan(tx, scope, {
      ...plan,
      id: randomUUID(),
      accountId,
      formKey,
      chargeKey: randomUUID(),
      fiatCode: currency,
      language,
      dueAt: startOf(plan.firstOn),
      createdAt: ctx.clock.now(),
    });
    const facts = plan.collect === 'automatic' ? await selectPlanFacts(tx, scope, row.id) : null;
    if (facts) await queueAskMail(ctx, tx, scope, facts);
    await audit(ctx, tx, actor, {
      ...scope,
      action: 'plan.created',
      object: { kind: 'plan', id: row.id },
      details: { amount: plan.fiatInt, currency, every: plan.every, period: plan.period, charges: plan.maxCharges },
    });
    return row;
  });
}
