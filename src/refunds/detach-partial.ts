import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import {
  lockTransfer,
  selectTransfer,
  type TransferKey,
  updateReleased,
  writeTransferKey,
} from '../payments/transfers.ts';
import { lockForProof } from '../requests/proof.ts';
import { effectiveStatus } from '../requests/rules.ts';
import type { RequestRow } from '../requests/store.ts';
import { hasSender } from './obstacle.ts';
import { startLockedRefund } from './start.ts';

/** The outcome of detaching a partial payment from its request. */
export type Detached =
  | { kind: 'detached'; requestId: string; usdcMicro: bigint }
  /** It was already detached: nothing to do. */
  | { kind: 'again' }
  /** The customer can still pay the rest, or a reorganisation could still remove the partial payment. */
  | { kind: 'too_early'; requestId: string }
  /** It pays its request together with the rest. */
  | { kind: 'paid'; requestId: string };

/**
 * Detaches a partial payment from a request that ended unpaid, so that it can be refunded like any unmatched payment.
 * This happens before anything is sent, under the request's lock: later money can no longer complete the request with a
 * payment that is being refunded.
 *
 * @param actor who is named in the audit log
 * @param accountId the merchant who decides; the payment must be theirs
 * @throws Refusal not_found
 */
export async function detachPartialPayment(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<Detached> {
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx): Promise<Detached> => {
      const seen = await selectTransfer(tx, scope, key);
      if (!seen || seen.account_id !== accountId) throw refuse('not_found');
      const requestId = seen.request_id ?? seen.candidate_request_id;
      const request = requestId === null ? null : await lockForProof(tx, scope, requestId);
      if (!request || requestId === null) throw refuse('not_found');
      const row = await lockTransfer(tx, scope, key, accountId);
      if (row?.request_id === null && row.reason === 'released') return { kind: 'again' };
      if (row?.request_id !== requestId) throw refuse('not_found');
      if (request.proof_status !== 'none') return { kind: 'paid', requestId };
      if (!isOver(request, ctx.clock.now()) || row.final_at === null) return { kind: 'too_early', requestId };
      await updateReleased(tx, scope, key, requestId);
      if (hasSender(row.from_address)) {
        await startLockedRefund(tx, ctx, scope, { ...row, request_id: null, reason: 'released' });
      }
      await audit(ctx, tx, actor, {
        ...scope,
        action: 'payment.released',
        object: { kind: 'payment', id: writeTransferKey(key) },
        details: { request: requestId, usdc_micro: row.value },
      });
      return { kind: 'detached', requestId, usdcMicro: BigInt(row.value) };
    }),
  );
}

function isOver(row: RequestRow, now: Date): boolean {
  const status = effectiveStatus(row, now);
  return status === 'expired' || status === 'voided';
}
