import type { Actor } from '../../audit/actions.ts';
import { audit } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import { retryOnConflict } from '../../db/conflict.ts';
import type { Scope } from '../../db/connection.ts';
import { applyTransfer } from '../apply.ts';
import { appliedOutcome, type Outcome } from '../outcome.ts';
import { hasRefund, lockTransfer, type TransferKey, writeTransferKey } from '../transfers.ts';

/**
 * A merchant attaches an unmatched payment to a request manually, even late money, if the sum then pays it in full. It
 * is verified like any other. A cancelled request stays cancelled.
 *
 * @param attach `accountId` is the merchant who decides; the transfer must be theirs
 * @returns `underpaid` with the missing amount when the sum does not suffice, `already_used` for a refunded payment;
 * nothing changes then
 */
export async function attachUnmatched(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  attach: TransferKey & { accountId: string; requestId: string },
): Promise<Outcome> {
  const key: TransferKey = { chainId: attach.chainId, txHash: attach.txHash.toLowerCase(), ordinal: attach.ordinal };
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx): Promise<Outcome> => {
      const row = await lockTransfer(tx, scope, key, attach.accountId);
      if (!row || row.judged_at === null || row.account_id !== attach.accountId) return { kind: 'not_found' };
      if (row.request_id !== null) return { kind: 'already_used' };
      if (row.reason === 'wrong_token' || row.reason === 'self_transfer') return { kind: 'wrong_token' };
      if (await hasRefund(tx, scope, key)) return { kind: 'already_used' };
      const { requestId } = attach;
      const outcome = appliedOutcome(
        await applyTransfer(tx, ctx, scope, { row, requestId, rule: 'merchant', from: 'unmatched', confirmed: false }),
      );
      if (outcome.kind === 'counted') {
        await audit(ctx, tx, actor, {
          ...scope,
          action: 'payment.attached',
          object: { kind: 'payment', id: writeTransferKey(key) },
          details: { request: requestId },
        });
      }
      return outcome;
    }),
  );
}
