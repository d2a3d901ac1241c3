import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { lockTransfer, type TransferKey, writeTransferKey } from '../payments/transfers.ts';
import { updateCancelled } from './store.ts';

/**
 * Cancels a refund because the merchant says that nothing was sent: the payment is available again as before. A
 * recorded transaction that no endpoint knows is still followed.
 *
 * @param actor who is named in the audit log
 * @returns false if no refund is started, or it counts as made (on its way, or confirmed)
 * @throws Refusal not_found
 */
export function cancelRefund(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<boolean> {
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const row = await lockTransfer(tx, scope, key, accountId);
      if (!row) throw refuse('not_found');
      const isCancelled = await updateCancelled(tx, scope, key);
      if (isCancelled) {
        await audit(ctx, tx, actor, {
          ...scope,
          action: 'payment.put_back',
          object: { kind: 'payment', id: writeTransferKey(key) },
          details: {},
        });
      }
      return isCancelled;
    }),
  );
}
