import type { Scope } from '../../db/connection.ts';
import type { Fragment, Tag } from '../../db/sql.ts';
import { refundedStates } from '../refunded.ts';

/** What exports tell of the refunds of a request's payments, those that count for it. All null without a refund. */
export type RefundColumns = {
  /** Micro units that were sent back, as far as the network shows; null also if it shows none. */
  refunded_micro: string | null;
  /** The state of each refund, oldest first. */
  refund_states: string[] | null;
  /** Their transactions, oldest first; a refund that was only started has none. */
  refund_tx_hashes: string[] | null;
  /** When the newest of the transactions was recorded that counts as a refund. */
  refunded_at: Date | null;
};

/**
 * The query `refunds`, which follows `paymentsOfPage` and reads once for the whole page. The refund of a payment that
 * counts for no request is among the unmatched payments.
 */
export function refundsOfPage(sql: Tag, scope: Scope): Fragment {
  return sql`
    refunds as materialized (
      select a.request_id, sum(b.given_micro)::text as refunded_micro,
        array_agg(b.state order by b.noted_at, b.tx_hash, b.ordinal) as refund_states,
        array_agg(b.return_tx_hash order by b.noted_at, b.tx_hash, b.ordinal)
          filter (where b.return_tx_hash is not null) as refund_tx_hashes,
        max(b.noted_at) filter (where b.state = any(${refundedStates}::text[])) as refunded_at
      from returns b join arrived a using (chain_id, tx_hash, ordinal)
      where b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.state <> 'kept' and a.counts
        and b.chain_id = any(array(select chain_id from arrived)) and b.tx_hash = any(array(select tx_hash from arrived))
      group by a.request_id
    )`;
}

/** The columns of `refunds`, joined to a page's requests `r` by `joinRefunds`. */
export const refundColumns = (sql: Tag): Fragment =>
  sql`refunds.refunded_micro, refunds.refund_states, refunds.refund_tx_hashes, refunds.refunded_at`;

export const joinRefunds = (sql: Tag): Fragment => sql`left join refunds on refunds.request_id = r.id`;
