import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isAsConfirmed } from '../payments/proof/final-payment.ts';
import {
  keyOf,
  lockTransfer,
  selectTransfer,
  type TransferKey,
  type TransferRow,
  writeTransferKey,
} from '../payments/transfers.ts';
import { lockForProof } from '../requests/proof.ts';
import { refundableMicro } from './refund.ts';
import { insertRefund } from './store.ts';

/** A started refund: of a whole unmatched payment, or of a request's surplus. */
export type StartedRefund = { kind: 'started'; requestId: string | null; usdcMicro: bigint };

/**
 * Starts the refund of a payment, under its lock, before the transfer is offered. Until the merchant cancels the
 * refund, nothing applies the payment to a request: no rule, no signature of its sender, and not the merchant.
 *
 * @param actor who is named in the audit log
 * @param payment `accountId` is the merchant who decides: the payment must be theirs; `final` is what
 * `readFinalPayment` found of it, before any transaction
 * @returns `again` when its refund is started already, `too_early` while it is not final
 * @throws Refusal not_found, also when there is nothing to refund
 */
export function startRefund(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  { accountId, key, final }: { accountId: string; key: TransferKey; final: TransferRow | null },
): Promise<StartedRefund | { kind: 'again' | 'too_early' }> {
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx): Promise<StartedRefund | { kind: 'again' | 'too_early' }> => {
      const seen = await selectTransfer(tx, scope, key);
      if (seen?.account_id !== accountId) throw refuse('not_found');
      const requestId = seen.request_id;
      if (requestId !== null) await lockForProof(tx, scope, requestId);
      const row = await lockTransfer(tx, scope, key, accountId);
      if (row?.request_id !== requestId) throw refuse('not_found');
      if (!final || !isAsConfirmed(row, final)) return { kind: 'too_early' };
      const started = await startLockedRefund(tx, ctx, scope, row);
      if (!started) return { kind: 'again' };
      await audit(ctx, tx, actor, {
        ...scope,
        action: 'payment.taken',
        object: { kind: 'payment', id: writeTransferKey(key) },
        details: { request: started.requestId, usdc_micro: started.usdcMicro.toString() },
      });
      return started;
    }),
  );
}

/**
 * Starts the refund of a payment that is locked, with the request that it is applied to, and is known to be final.
 *
 * @returns null when its refund is started already
 * @throws Refusal not_found when there is nothing to refund
 */
export async function startLockedRefund(
  tx: Tx,
  ctx: Context,
  scope: Scope,
  row: TransferRow,
): Promise<StartedRefund | null> {
  const usdcMicro = await refundableMicro(tx, scope, row);
  if (usdcMicro === 0n) throw refuse('not_found');
  const { request_id: requestId, account_id: accountId, token_address: tokenAddress } = row;
  const addresses = { tokenAddress, fromAddress: row.to_address, toAddress: row.from_address };
  const recordedAt = ctx.clock.now();
  const isStarted = await insertRefund(tx, scope, {
    ...keyOf(row),
    accountId,
    requestId,
    ...addresses,
    usdcMicro,
    recordedAt,
  });
  return isStarted ? { kind: 'started', requestId, usdcMicro } : null;
}
