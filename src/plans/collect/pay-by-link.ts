import { theService } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { nestedInScope } from '../../db/nested.ts';
import { queuePlanMail } from '../../mail/outbox.ts';
import { readMailBranding } from '../../partners/branding.ts';
import { takePlanMail } from '../mail-limit.ts';
import { endMandate } from '../mandates/end.ts';
import type { EndReason, MandateRow } from '../mandates/read.ts';
import type { NamedPlan } from '../store.ts';
import { type ChargeMail, chargeMail } from './mail.ts';
import type { Uncovered } from './rules.ts';
import type { MailedRequest } from './store.ts';

/**
 * How a mandate ends that cannot serve for a charge. If a network is missing, it does not end: an operator may bring it
 * back.
 */
const endReasons: Record<Uncovered, EndReason | null> = {
  no_mandate: null,
  revoked: 'revoked_on_chain',
  expired: 'expired',
  above_cap: 'above_cap',
  wallet_changed: 'wallet_changed',
  currency_changed: 'currency_changed',
  chain_gone: null,
};

type Asking = { plan: NamedPlan; request: MailedRequest; mandate: MandateRow | null; reason: Uncovered };

/**
 * Asks the customer to pay a request by its link because the mandate does not cover it, and stops using that mandate.
 * The caller has locked the plan.
 */
export async function requestByLinkInstead(
  ctx: Context,
  tx: Tx,
  scope: Scope,
  { plan, request, mandate, reason }: Asking,
): Promise<void> {
  await mailAboutCharge(ctx, tx, scope, { plan, request, reason, payer: null, kind: { name: 'ask' } });
  const endReason = endReasons[reason];
  if (mandate === null || endReason === null) return;
  // Last: the end of the audit log stays locked until commit.
  await endMandate({ ...ctx, db: nestedInScope(tx, scope, ctx.db) }, theService, scope, mandate.id, {
    reason: endReason,
  });
}

type ChargeNews = Omit<ChargeMail, 'branding' | 'to'>;

/** Mails the customer of a plan about a charge, if the customer may be mailed. */
export async function mailAboutCharge(ctx: Context, tx: Tx, scope: Scope, news: ChargeNews): Promise<void> {
  const { plan } = news;
  const to = await takePlanMail(ctx, tx, scope, plan);
  if (to === null) return;
  const inner = { ...ctx, db: nestedInScope(tx, scope, ctx.db) };
  const branding = await readMailBranding(inner, scope.partnerId);
  await queuePlanMail(ctx, tx, scope, plan.id, chargeMail(ctx, { ...news, branding, to }));
}
