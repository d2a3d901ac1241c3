import type { Scope, Tx } from '../db/connection.ts';

/**
 * Detaches the partial payments of a request that this transaction voids; they become unmatched payments again. The
 * watcher locks transfers before the request, so this must not wait, or the two could deadlock.
 *
 * @throws PostgresError 55P03 while another transaction holds one of them: try again later
 */
export async function detachPartialPayments(tx: Tx, scope: Scope, id: string): Promise<void> {
  await tx`
    update transfers set request_id = null, rule = null, counts = false, reason = 'voided', candidate_request_id = ${id}
    where (chain_id, tx_hash, ordinal) in (
      select chain_id, tx_hash, ordinal from transfers
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${id}
      for update nowait)`;
}
