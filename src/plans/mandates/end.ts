import type { Actor } from '../../audit/actions.ts';
import { withAuditIn } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { type EndReason, type MandateRow, updateEnded } from './store.ts';

/** After these nothing could be charged any more: the chain has nothing to be told. */
const overOnChain: readonly EndReason[] = ['revoked_on_chain', 'expired'];

/**
 * Takes a mandate out of use, at once and for good: nothing is charged by it from then on. Where the chain would still
 * let it be charged, the loop that revokes is to tell it.
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
      db.scoped(scope, (tx) =>
        updateEnded(tx, scope, mandateId, {
          reason,
          now: clock.now(),
          revoke: !overOnChain.includes(reason),
          stopSignature,
        }),
      ),
    (row) =>
      row && { ...scope, action: 'mandate.ended', object: { kind: 'plan', id: row.plan_id }, details: { reason } },
  );
}
