import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Tx } from '../db/connection.ts';
import { assetId } from '../lib/ids.ts';
import { enqueueReceipts } from '../receipts/enqueue.ts';
import { type VerifiedRow, verifyProofs } from '../requests/proof.ts';
import type { RequestRow } from '../requests/store.ts';
import { enqueueProofVerified } from '../webhooks/enqueue.ts';
import { completingTransfer } from './rules.ts';
import { updateFinals } from './store.ts';
import type { TransferRow } from './transfers.ts';

/** The CAIP-19 name of the asset that a transfer moved. */
export function assetOf(row: TransferRow): string {
  return assetId(row.chain_id, row.token_address);
}

/** A request that final transfers may pay in full. */
export type Settled = {
  request: RequestRow;
  /** Transfers that count for it, in the order of the chain; all final and confirmed. */
  settled: readonly TransferRow[];
};

/**
 * Verifies requests that final transfers pay in full, and writes their events and receipts in the same transaction. The
 * caller has locked the requests and the transfers. They may belong to several scopes.
 *
 * @returns the ids of those that were verified, without those that are not paid or whose state does not allow it
 */
export async function completeProofs(tx: Tx, ctx: Context, all: readonly Settled[]): Promise<Set<string>> {
  const paid = all.flatMap(({ request, settled }) => {
    const last = completingTransfer(settled, BigInt(request.usdc_micro));
    return last ? [{ request, settled, last }] : [];
  });
  if (paid.length === 0) return new Set();
  const verified = await verifyProofs(
    tx,
    paid.map(({ request: { partner_id, test_mode, id }, last }) => ({
      ...{ partner_id, test_mode, id },
      ...{ tx_hash: last.tx_hash, payer_address: last.from_address, asset_id: assetOf(last) },
    })),
  );
  const verifiedAt = new Map(verified.map(({ id, proof_verified_at }) => [id, proof_verified_at as Date]));
  const finals = paid.flatMap(({ request, settled }) => {
    const at = verifiedAt.get(request.id);
    return at ? settled.map((row) => ({ row, at })) : [];
  });
  await Promise.all([updateFinals(tx, finals), enqueueProofVerified(tx, verified.map(toEvent))]);
  await enqueueReceipts(
    tx,
    ctx,
    verified.map((row) => ({ scope: scopeOfRow(row), ...row })),
  );
  return new Set(verifiedAt.keys());
}

function toEvent(row: VerifiedRow) {
  return {
    scope: scopeOfRow(row),
    requestId: row.id,
    accountId: row.account_id,
    txHash: row.tx_hash as string,
    payerAddress: row.payer_address as string,
    metadata: row.metadata,
    verifiedAt: row.proof_verified_at as Date,
  };
}
