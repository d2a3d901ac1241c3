import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { enqueueReceipts } from '../receipts/enqueue.ts';
import { verifyProof } from '../requests/proof.ts';
import type { RequestRow } from '../requests/store.ts';
import { enqueueProofVerified } from '../webhooks/enqueue.ts';
import { completing } from './rules.ts';
import { updateFinal } from './store.ts';
import type { TransferRow } from './transfers.ts';

/** CAIP-19 name of what a transfer paid with. */
export function assetOf(row: TransferRow): string {
  return `eip155:${row.chain_id}/erc20:${row.token_address}`;
}

/**
 * Verifies a request that final transfers pay in full, and writes its event and receipts in the same transaction. The
 * caller has locked the request and the transfers.
 *
 * @param settled transfers that count for it, in the order of the chain; all final and confirmed
 * @returns false when they do not pay it, or its state does not allow it
 */
export async function completeProof(
  tx: Tx,
  ctx: Context,
  scope: Scope,
  request: RequestRow,
  settled: readonly TransferRow[],
): Promise<boolean> {
  const last = completing(settled, BigInt(request.usdc_micro));
  if (!last) return false;
  const proof = { txHash: last.tx_hash, payerAddress: last.from_address, assetId: assetOf(last) };
  const verified = await verifyProof(tx, scope, request.id, proof);
  const verifiedAt = verified?.proof_verified_at;
  if (!verified || !verifiedAt) return false;
  for (const row of settled) await updateFinal(tx, scope, row, verifiedAt);
  await enqueueProofVerified(tx, scope, {
    requestId: verified.id,
    accountId: verified.account_id,
    txHash: proof.txHash,
    payerAddress: proof.payerAddress,
    metadata: verified.metadata,
    verifiedAt,
  });
  await enqueueReceipts(tx, ctx, scope, verified);
  return true;
}
