import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { attachProofs, lockForProof } from '../requests/proof.ts';
import type { RequestRow } from '../requests/store.ts';
import { assetOf, completeProofs } from './complete.ts';
import { type ChainView, needsCrossCheck, readChainView, standsFinal } from './proof/heads.ts';
import { reserveRest, undoubtedMicroOf } from './rest.ts';
import { type Applicability, canApply, completing, type Payable, type Reason, type Rule, sumMicro } from './rules.ts';
import { lockTransfers, toTransfer, updateMatches } from './store.ts';
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

/** A locked request, and the transfers that count for it, locked as well, in the order of the chain. */
export type HeldRequest = { request: RequestRow; counted: TransferRow[] };

/** A request as the rules read it. */
export function toPayable(row: RequestRow, counted: readonly TransferRow[]): Payable {
  return {
    id: row.id,
    walletAddress: row.wallet_address,
    walletChainIds: row.wallet_chain_ids,
    usdcMicro: BigInt(row.usdc_micro),
    status: row.status,
    proofStatus: row.proof_status,
    expiresAt: row.expires_at,
    countedMicro: sumMicro(counted),
    countedTransfers: counted.length,
    undoubtedMicro: undoubtedMicroOf(counted),
  };
}

/**
 * Applies a transfer to a request, if the request accepts it, and updates the request's proof. The request is locked
 * first, always before its transfers, so that two decisions neither overlap nor deadlock.
 *
 * @throws PostgresError 55P03 while the watcher holds one of the transfers: try again later
 */
export async function applyTransfer(tx: Tx, ctx: Context, scope: Scope, applying: TransferToApply): Promise<Applied> {
  const { row, requestId, rule, from } = applying;
  const request = await lockForProof(tx, scope, requestId);
  if (!request) return { kind: 'gone' };
  const locked = await lockTransfers(tx, scope, requestId, keyOf(row));
  const current = locked.find((other) => isSameRow(other, row));
  const counted = locked.filter((other) => !isSameRow(other, row));
  if (!current || current.block_hash !== row.block_hash || current.request_id !== null) return { kind: 'gone' };

  const isRefunded = await hasRefund(tx, scope, keyOf(row));
  const applicability = judgeTransfer(current, { request, counted }, rule, isRefunded);
  if (!applicability) return { kind: 'gone' };
  if (!applicability.counts) return { kind: 'rejected', reason: applicability.reason };
  const missingMicro = BigInt(request.usdc_micro) - sumMicro(counted) - BigInt(current.value);
  if (!applicability.completes && !applying.asPart) return { kind: 'insufficient', missingMicro };
  const match = { row: current, result: { requestId, rule, reason: null } };
  if ((await updateMatches(tx, from, [match], ctx.clock.now())) === 0) return { kind: 'gone' };
  const after = withApplied(counted, current);
  if (!applicability.completes) {
    await reserveRest(tx, scope, request, after);
    return { kind: 'applied', proofStatus: 'none', missingMicro };
  }
  const proofStatus = await updateProof(tx, ctx, request, after, applying);
  return { kind: 'applied', proofStatus, missingMicro: 0n };
}

/**
 * Decides whether a transfer counts for the request that it is meant for. Both are locked.
 *
 * @returns null for a merchant's decision about money that is not this merchant's any more
 */
export function judgeTransfer(
  current: TransferRow,
  { request, counted }: HeldRequest,
  rule: Rule,
  isRefunded: boolean,
): Applicability | null {
  // Refunded money pays nothing, whether its sender, a reorganisation or a merchant offers it again.
  const isReleased = current.reason === 'released' && rule !== 'merchant';
  if (isRefunded || isReleased) return { counts: false, reason: 'released' };
  // The wallet may belong to another merchant by now: merchants decide only about their own money and requests.
  if (rule === 'merchant' && request.account_id !== current.account_id) return null;
  return canApply(toTransfer(current), toPayable(request, counted), rule);
}

/** What counts for a request once a transfer is applied to it as well, in the order of the chain. */
export function withApplied(counted: readonly TransferRow[], current: TransferRow): TransferRow[] {
  return inOrder([...counted, { ...current, counts: true, final_at: null, looks: 0 }]);
}

/** As `selectCounted` orders them. */
export function inOrder(rows: TransferRow[]): TransferRow[] {
  return rows.sort(
    (a, b) =>
      a.block_time.getTime() - b.block_time.getTime() ||
      Number(a.chain_id) - Number(b.chain_id) ||
      Number(a.block_number) - Number(b.block_number) ||
      (a.tx_hash < b.tx_hash ? -1 : a.tx_hash > b.tx_hash ? 1 : a.ordinal - b.ordinal),
  );
}

/**
 * The transfers that prove a request at once: they are final and, if there are several endpoints, all have confirmed
 * them. Of those not marked as final, at most the given one was checked with the endpoints.
 */
export function provenBy(
  request: RequestRow,
  counted: readonly TransferRow[],
  view: ChainView,
  { row, confirmed }: Pick<TransferToApply, 'row' | 'confirmed'>,
): TransferRow[] {
  const due = BigInt(request.usdc_micro);
  return counted.filter((other) => {
    if (other.final_at) return true;
    const chain = view.get(Number(other.chain_id))?.chain;
    const agreed = chain && (!needsCrossCheck(chain) || (confirmed && isSameRow(other, row)));
    return agreed === true && standsFinal(other, due, view);
  });
}

/** Verifies the request if enough of the paying transfers are final already; otherwise attaches it until they are. */
async function updateProof(
  tx: Tx,
  ctx: Context,
  request: RequestRow,
  counted: TransferRow[],
  applying: TransferToApply,
): Promise<RequestRow['proof_status']> {
  const view = await readChainView(ctx, tx, request.test_mode);
  const settled = provenBy(request, counted, view, applying);
  if ((await completeProofs(tx, ctx, [{ request, settled }])).size > 0) return 'verified';
  const attached = await attachProofs(tx, [attachment(request, counted, applying.row)]);
  return attached > 0 ? 'attached' : request.proof_status;
}

/** How a request is attached: it takes the asset of the transfer that completes its sum. */
export function attachment(request: RequestRow, counted: readonly TransferRow[], row: TransferRow) {
  const { partner_id, test_mode, id } = request;
  return { partner_id, test_mode, id, asset_id: assetOf(completing(counted, BigInt(request.usdc_micro)) ?? row) };
}
