import type { Database, Scope } from '../db/connection.ts';
import { keyOf, type TransferKey, writeTransferKey } from '../payments/transfers.ts';
import { type RefundRow, selectRefunds } from './store.ts';

export { isRefundSent, type RefundRow } from './store.ts';

/**
 * The refunds of payments.
 *
 * @returns keyed by `writeTransferKey`; a payment without a refund is missing
 */
export async function readRefunds(db: Database, scope: Scope, keys: TransferKey[]): Promise<Map<string, RefundRow>> {
  if (keys.length === 0) return new Map();
  const found = await db.scoped(scope, (tx) => selectRefunds(tx, scope, keys));
  return new Map(found.map((row) => [writeTransferKey(keyOf(row)), row]));
}
