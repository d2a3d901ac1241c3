import type { Tx } from '../../db/connection.ts';
import { lockFree, type RequestKey } from '../../requests/proof.ts';
import { inOrder, type LockedRequest } from '../decide.ts';
import { type KeyColumns, keyOf, type TransferRow, writeTransferKey } from '../transfers.ts';
import { countCounted, lockFreeCounted, lockFreeTransfers } from './store.ts';

/** The rows that a batch works on, all locked. */
export type LockedBatch = {
  /** By id. */
  requests: Map<string, LockedRequest>;
  transfer(row: TransferRow): TransferRow | undefined;
};

const nameOf = (row: KeyColumns) => writeTransferKey(keyOf(row));

/**
 * Locks requests, then transfers, until the transaction ends; everybody locks them in this order. Rows that somebody
 * else has locked are left out; with a transfer, so is the request that it counts for. So a batch never waits for
 * anybody, and no two batches wait for each other.
 *
 * @param rows further transfers, which count for no request
 */
export async function lockBatch(
  tx: Tx,
  keys: readonly RequestKey[],
  rows: readonly TransferRow[],
): Promise<LockedBatch> {
  const locked = keys.length > 0 ? await lockFree(tx, keys) : [];
  const [counted, counts, others] = await Promise.all([
    lockFreeCounted(tx, locked),
    countCounted(tx, locked),
    lockFreeTransfers(tx, rows),
  ]);
  const countOf = new Map(counts.map(({ id, count }) => [id, count]));
  const byRequest = Map.groupBy(counted, ({ request_id }) => request_id);
  const requests = locked.flatMap((request): [string, LockedRequest][] => {
    const own = byRequest.get(request.id) ?? [];
    return own.length === (countOf.get(request.id) ?? 0) ? [[request.id, { request, counted: inOrder(own) }]] : [];
  });
  const transfers = new Map(others.map((row) => [nameOf(row), row]));
  return { requests: new Map(requests), transfer: (row) => transfers.get(nameOf(row)) };
}
