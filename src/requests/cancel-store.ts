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

/**
 * Whether an automatic charge of a request is on its way. One that was mined counts until its transfer is matched.
 * Whoever enqueues a charge has locked the request, and so must the caller.
 */
export async function isBeingCharged(tx: Tx, { partnerId, testMode }: Scope, id: string): Promise<boolean> {
  const rows = await tx`
    select from relay_transactions b
    where b.partner_id = ${partnerId} and b.test_mode = ${testMode} and b.subject_id = ${id} and b.purpose = 'charge'
      and (b.state in ('allotted', 'sent', 'mined') or (b.state = 'final' and not exists (
        select from transfers t where t.partner_id = b.partner_id and t.test_mode = b.test_mode
          and t.chain_id = b.chain_id and t.tx_hash = b.hash and t.judged_at is not null)))
    limit 1`;
  return rows.length > 0;
}
