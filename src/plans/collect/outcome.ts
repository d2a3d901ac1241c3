import { audit, theService } from '../../audit/write.ts';
import { scopeOfRow } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { nestedInScope } from '../../db/nested.ts';
import { updateRematchCharged } from '../../payments/transfers.ts';
import { endMandate } from '../mandates/end.ts';
import type { MandateRow } from '../mandates/read.ts';
import { retryMs } from '../rules.ts';
import { lockNamedPlan, updateEnded as updatePlanEnded } from '../store.ts';
import type { ChargeFactsRow } from './charge-facts-store.ts';
import { mailAboutCharge, requestByLinkInstead } from './pay-by-link.ts';
import { type Delay, type Failure, nextAttempt, type StopReason, type Uncovered } from './rules.ts';
import { stopCollecting } from './stop.ts';
import { selectMailed, updateClaimReleased, updateDelayed, updateEnded, updateFailed, updateMoved } from './store.ts';

/** How soon a charge for which there was no room is claimed again. */
const noRoomMs = 2_000;

/** A claimed charge, and its plan's active mandate. */
export type ClaimedCharge = { row: ChargeFactsRow; mandate: MandateRow | null };

const inScopeOf = (
  ctx: Context,
  row: ChargeFactsRow,
  work: (tx: Tx, scope: Scope) => Promise<unknown>,
): Promise<unknown> => {
  const scope = scopeOfRow(row);
  return ctx.db.scoped(scope, (tx) => work(tx, scope));
};

/** Ends a charge that was paid manually. */
export async function endPaid(ctx: Context, { row }: ClaimedCharge): Promise<void> {
  await inScopeOf(ctx, row, (tx) => updateEnded(tx, row, { state: 'paid', reason: null, now: ctx.clock.now() }));
}

/** Ends a charge that was made on the chain, although that is not stored. Its payment counts if it was read. */
export async function endCharged(ctx: Context, { row }: ClaimedCharge): Promise<void> {
  await inScopeOf(ctx, row, async (tx, scope) => {
    await updateEnded(tx, row, { state: 'charged', reason: null, now: ctx.clock.now() });
    await updateRematchCharged(tx, scope, row.account_id, row.reference);
  });
}

/** Ends a charge that is not to be collected any more. */
export async function endStopped(ctx: Context, { row }: ClaimedCharge, reason: StopReason): Promise<void> {
  await inScopeOf(ctx, row, (tx) => updateEnded(tx, row, { state: 'stopped', reason, now: ctx.clock.now() }));
}

/**
 * Postpones a charge without counting an attempt: until a time, or for longer each time.
 *
 * @param until null if that is not known
 */
export async function postpone(ctx: Context, { row }: ClaimedCharge, reason: Delay, until: Date | null): Promise<void> {
  const now = ctx.clock.now();
  const later = new Date(now.getTime() + retryMs(row.waits + 1));
  const dueAt = until && until > now ? until : later;
  await inScopeOf(ctx, row, (tx) => updateDelayed(tx, row, { reason, now, dueAt }));
}

/** Releases a charge for which there is no room among its partner's calls that wait to be mined. */
export async function releaseClaim(ctx: Context, { row }: ClaimedCharge): Promise<void> {
  const dueAt = new Date(ctx.clock.now().getTime() + noRoomMs);
  await inScopeOf(ctx, row, (tx) => updateClaimReleased(tx, row, dueAt));
}

/** Hands a charge to the loop of the chain on which the customer has agreed since. */
export async function moveToChain(ctx: Context, row: ChargeFactsRow, mandate: MandateRow): Promise<void> {
  await inScopeOf(ctx, row, (tx) => updateMoved(tx, row, mandate, ctx.clock.now()));
}

/** An earlier charge may not match terms that were agreed to since; those terms still serve for later charges. */
const reasonsOfEarlierTerms: readonly Uncovered[] = ['above_cap', 'wallet_changed', 'currency_changed'];

/** Ends a charge that the mandate does not cover: the customer is asked to pay by link, and to agree again. */
export async function endUncovered(ctx: Context, { row, mandate }: ClaimedCharge, reason: Uncovered): Promise<void> {
  const isNewer = mandate !== null && mandate.id !== row.mandate_id;
  await inScopeOf(ctx, row, async (tx, scope) => {
    const plan = await lockNamedPlan(tx, scope, row.plan_id);
    if (!(await updateEnded(tx, row, { state: 'asked', reason, now: ctx.clock.now() }))) return;
    const request = await selectMailed(tx, scope, row.request_id);
    if (isNewer && reasonsOfEarlierTerms.includes(reason)) {
      const news = { plan, request, reason: 'agreed_since' as const, payer: null, kind: { name: 'ask' as const } };
      return mailAboutCharge(ctx, tx, scope, news);
    }
    await requestByLinkInstead(ctx, tx, scope, { plan, request, mandate, reason });
  });
}

/**
 * Counts a failed attempt and tells the customer. After the last one the charge is past due: the mandate is no longer
 * used, and the plan continues by links or ends, as the merchant chose.
 */
export async function fail(ctx: Context, { row, mandate }: ClaimedCharge, reason: Failure): Promise<void> {
  const now = ctx.clock.now();
  const since = row.failing_since ?? now;
  const dueAt = nextAttempt(row.attempts + 1, since, now);
  await inScopeOf(ctx, row, async (tx, scope) => {
    const plan = await lockNamedPlan(tx, scope, row.plan_id);
    if (!(await updateFailed(tx, row, { reason, since, now, dueAt }))) return;
    const request = await selectMailed(tx, scope, row.request_id);
    const kind = dueAt ? ({ name: 'failed', next: dueAt } as const) : ({ name: 'past_due' } as const);
    await mailAboutCharge(ctx, tx, scope, { plan, request, reason, payer: mandate?.payer ?? null, kind });
    if (dueAt) return;
    const ends = plan.after_past_due === 'end' && plan.state !== 'ended';
    if (ends) {
      await updatePlanEnded(tx, scope, plan.id, now);
      await stopCollecting(tx, scope, plan.id, 'plan_ended', now);
    }
    // The end of the audit log stays locked from here until commit.
    const inner = { ...ctx, db: nestedInScope(tx, scope, ctx.db) };
    if (mandate) await endMandate(inner, theService, scope, mandate.id, { reason: 'past_due' });
    const object = { kind: 'plan' as const, id: plan.id };
    if (ends) await audit(ctx, tx, theService, { ...scope, action: 'plan.ended', object, details: {} });
  });
}
