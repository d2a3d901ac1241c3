import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { lockForProof } from '../requests/proof.ts';
import { reserveRestAmount } from '../requests/reserved-rests.ts';
import type { RequestRow } from '../requests/store.ts';
import { decide } from './decide.ts';
import { Decisions } from './decisions.ts';
import { readChainView } from './proof/heads.ts';
import type { Reason, Rule } from './rules.ts';
import { lockTransfers } from './store.ts';
import { hasRefund, isSameRow, keyOf, type TransferRow } from './transfers.ts';

export type TransferToApply = {
  row: TransferRow;
  requestId: string;
  rule: Rule;
  /** What the transfer must still be: not matched yet, or found to be unmatched. */
  from: 'pending' | 'unmatched';
  /** Whether all endpoints have confirmed it. */
  confirmed: boolean;
  /** Whether it may leave something to pay. */
  asPart: boolean;
};

export type Applied =
  | { kind: 'applied'; proofStatus: RequestRow['proof_status']; missingMicro: bigint }
  | { kind: 'rejected'; reason: Reason }
  /** It would leave something to pay, which was not allowed. */
  | { kind: 'insufficient'; missingMicro: bigint }
  /** The transfer, or the request, has changed meanwhile: somebody was faster. */
  | { kind: 'gone' };

/**
 * Applies a transfer to a request, if the request accepts it, and updates the request's proof. The request is locked
 * first, always before its transfers, so that two decisions neither overlap nor deadlock.
 *
 * @throws PostgresError 55P03 while the watcher holds one of the transfers: try again later
 */
export async function applyTransfer(tx: Tx, ctx: Context, scope: Scope, applying: TransferToApply): Promise<Applied> {
  const { row, requestId, rule, from, confirmed } = applying;
  const request = await lockForProof(tx, scope, requestId);
  if (!request) return { kind: 'gone' };
  const locked = await lockTransfers(tx, scope, requestId, keyOf(row));
  const current = locked.find((other) => isSameRow(other, row));
  if (current?.block_hash !== row.block_hash || current.request_id !== null) return { kind: 'gone' };
  const [view, isRefunded] = await Promise.all([
    readChainView(ctx, tx, request.test_mode),
    hasRefund(tx, scope, keyOf(row)),
  ]);

  const held = { request, counted: locked.filter((other) => !isSameRow(other, row)) };
  const meant = { row: current, rule, confirmed, isRefunded };
  const decision = decide(held, meant, view);
  if (decision.kind !== 'applied') return decision;
  const { missingMicro, restMicro, after } = decision;
  if (missingMicro > 0n && !applying.asPart) return { kind: 'insufficient', missingMicro };
  const isPending = current.judged_at === null;
  if (isPending !== (from === 'pending')) return { kind: 'gone' };
  const decisions = new Decisions();
  decisions.apply(held, meant, decision);
  await decisions.write(tx, ctx, from);
  if (restMicro !== null) await reserveRestAmount(tx, scope, requestId, restMicro);
  return { kind: 'applied', proofStatus: after.request.proof_status, missingMicro };
}
