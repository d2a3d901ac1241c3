import type { Actor } from '../../audit/actions.ts';
import { withAuditIn } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { selectPlanFacts } from './facts-store.ts';
import { queueEndMails } from './mails.ts';
import { type EndReason, lockPlanOfMandate, type MandateRow, updateEnded } from './store.ts';

/** After these nothing can be charged on the chain any more, so no revocation is needed. */
const overOnChain: readonly EndReason[] = ['revoked_on_chain', 'expired'];

/**
 * Ends a mandate at once and permanently: nothing is charged under it from then on. The same transaction queues mails
 * to customer and merchant. If the chain would still allow charges, the loop that revokes will revoke it there.
 *
 * @param end `stopSignature` is the payer's signature of its revocation, if there is one
 * @returns the mandate; null if it was no longer in use
 */
export function endMandate(
  ctx: Pick<Context, 'db' | 'clock' | 'config' | 'log'>,
  actor: Actor,
  scope: Scope,
  mandateId: string,
  { reason, stopSignature = null }: { reason: EndReason; stopSignature?: Buffer | null },
): Promise<MandateRow | null> {
  return withAuditIn(
    ctx,
    scope,
    actor,
    ({ db, clock }) =>
      db.scoped(scope, async (tx) => {
        // First, as everybody does: whoever has locked the plan may end the mandate next, and mail the same person.
        await lockPlanOfMandate(tx, scope, mandateId);
        const end = { reason, now: clock.now(), revoke: !overOnChain.includes(reason), stopSignature };
        const mandate = await updateEnded(tx, scope, mandateId, end);
        const facts = mandate && (await selectPlanFacts(tx, scope, mandate.plan_id));
        if (facts) await queueEndMails(ctx, tx, scope, facts, reason);
        return mandate;
      }),
    (row) =>
      row && { ...scope, action: 'mandate.ended', object: { kind: 'plan', id: row.plan_id }, details: { why: reason } },
  );
}
