import type { Context } from '../../context.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import type { RequestRow } from '../../requests/store.ts';
import type { MandateRow } from '../mandates/read.ts';
import type { NamedPlan } from '../store.ts';
import { isOffered, priceOf, termsOf } from './cover.ts';
import { requestByLinkInstead } from './pay-by-link.ts';
import { coverage } from './rules.ts';
import { insertCollection } from './store.ts';

type Beginning = { plan: NamedPlan; request: RequestRow; mandate: MandateRow; number: number; now: Date };

/**
 * Lets a request of a plan be charged by its mandate, in the transaction that creates the request. Then nobody is asked
 * to pay. If the mandate does not cover the price, it is no longer used, and the customer is asked to pay by link and
 * to agree again.
 */
export async function beginCollecting(
  ctx: Context,
  tx: Tx,
  scope: Scope,
  { plan, request, mandate, number, now }: Beginning,
): Promise<void> {
  const gap = coverage(termsOf(mandate), priceOf(request), isOffered(ctx, mandate, request), now);
  if (gap) return requestByLinkInstead(ctx, tx, scope, { plan, request, mandate, reason: gap });
  await insertCollection(tx, scope, {
    requestId: request.id,
    planId: plan.id,
    accountId: plan.account_id,
    number,
    mandateId: mandate.id,
    chainId: mandate.chain_id,
    now,
  });
}
