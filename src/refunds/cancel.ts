import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { lockTransfer, type TransferKey } from '../payments/transfers.ts';
import { updateCancelled } from './store.ts';

/**
 * Cancels a refund because the merchant says that nothing was sent: the payment is available again as before. A
 * recorded transaction that no endpoint knows is still followed.
 *
 * @returns false when no refund is started, or it counts as made: on its way, or confirmed
 * @throws Refusal not_found
 */
export function cancelRefund(ctx: Context, scope: Scope, accountId: string, key: TransferKey): Promise<boolean> {
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const row = await lockTransfer(tx, scope, key, accountId);
      if (!row) throw refuse('not_found');
      return updateCancelled(tx, scope, key);
    }),
  );
}
