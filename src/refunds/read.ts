import type { Database, Scope } from '../db/connection.ts';
import type { TransferKey } from '../payments/transfers.ts';
import { type ReturnRow, selectReturns } from './store.ts';

export { type ReturnRow, standsReturned } from './store.ts';

/**
 * What is known of payments that are given back.
 *
 * @returns by `writeTransferKey`; a payment that nobody took is not in it
 */
export async function readReturns(db: Database, scope: Scope, keys: TransferKey[]): Promise<Map<string, ReturnRow>> {
  if (keys.length === 0) return new Map();
  const found = await db.scoped(scope, (tx) => selectReturns(tx, scope, keys));
  return new Map(found.map((row) => [`${row.chain_id}_${row.tx_hash}_${row.ordinal}`, row]));
}
