import type { Actor } from '../../audit/actions.ts';
import { withAuditIn } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { selectPlanFacts } from './facts-store.ts';
import { queueEndMails } from './mails.ts';
import { type EndReason, type MandateRow, updateEnded } from './store.ts';

/** After these nothing could be charged any more: the chain has nothing to be told. */
const overOnChain: readonly EndReason[] = ['revoked_on_chain', 'expired'];

/**
 * Takes a mandate out of use, at once and for good: nothing is charged by it from then on. Customer and merchant are
 * told by mail, in the same transaction. Where the chain would still let it be charged, the loop that revokes is to
 * tell it.
 *
 * @param stopSignature the payer's signature under its revocation, where there is one
 * @returns the mandate, null when it was not in use any more
 */
export function endMandate(
  ctx: Pick<Context, 'db' | 'clock' | 'config'>,
  actor: Actor,
  scope: Scope,
  mandateId: string,
  reason: EndReason,
  stopSignature: Buffer | null = null,
): Promise<MandateRow | null> {
  return withAuditIn(
    ctx,
    scope,
    actor,
    ({ db, clock }) =>
      db.scoped(scope, async (tx) => {
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
