import type { Actor } from '../../audit/actions.ts';
import { audit } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import { retryOnConflict } from '../../db/conflict.ts';
import type { Scope } from '../../db/connection.ts';
import { readRequest } from '../../requests/read.ts';
import { effectiveStatus } from '../../requests/rules.ts';
import { applyTransfer } from '../apply.ts';
import { appliedOutcome, type Outcome } from '../outcome.ts';
import { isRejected } from '../rules.ts';
import { hasRefund, lockTransfer, type TransferKey, writeTransferKey } from '../transfers.ts';

/** `accountId` is the merchant who decides; the transfer must be theirs. */
export type Attach = TransferKey & { accountId: string; requestId: string };

/**
 * A merchant attaches an unmatched payment to a request manually, even late money, if the sum then pays it in full. It
 * is verified like any other. A cancelled request stays cancelled.
 *
 * @returns `underpaid` with the missing amount when the sum does not suffice, `already_used` for a refunded payment;
 * nothing changes then
 */
export function attachUnmatched(ctx: Context, actor: Actor, scope: Scope, attach: Attach): Promise<Outcome> {
  return attachAs(ctx, actor, scope, attach, false);
}

/**
 * A merchant attaches an unmatched payment to a request that is still open, as a part: the request then asks for the
 * rest, for which an amount is reserved. If the sum suffices after all, the request is paid.
 *
 * @returns `underpaid` with what is left once it is attached; `late` when the request has expired, and nothing changes
 */
export async function requestRest(ctx: Context, actor: Actor, scope: Scope, attach: Attach): Promise<Outcome> {
  const request = await readRequest(ctx.db, scope, attach.requestId);
  if (effectiveStatus(request, ctx.clock.now()) === 'expired') return { kind: 'late' };
  return attachAs(ctx, actor, scope, attach, true);
}

async function attachAs(ctx: Context, actor: Actor, scope: Scope, attach: Attach, asPart: boolean): Promise<Outcome> {
  const key: TransferKey = { chainId: attach.chainId, txHash: attach.txHash.toLowerCase(), ordinal: attach.ordinal };
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx): Promise<Outcome> => {
      const row = await lockTransfer(tx, scope, key, attach.accountId);
      if (!row || row.judged_at === null || row.account_id !== attach.accountId) return { kind: 'not_found' };
      if (row.request_id !== null) return { kind: 'already_used' };
      if (isRejected(row.reason)) return { kind: 'wrong_token' };
      if (await hasRefund(tx, scope, key)) return { kind: 'already_used' };
      const { requestId } = attach;
      const applying = { row, requestId, rule: 'merchant', from: 'unmatched', confirmed: false, asPart } as const;
      const applied = await applyTransfer(tx, ctx, scope, applying);
      if (applied.kind === 'applied') {
        await audit(ctx, tx, actor, {
          ...scope,
          action: 'payment.attached',
          object: { kind: 'payment', id: writeTransferKey(key) },
          details: { request: requestId },
        });
      }
      return appliedOutcome(applied);
    }),
  );
}
