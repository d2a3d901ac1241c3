import type { Fragment, Tag } from '../../db/sql.ts';

/**
 * What exports tell of each transfer that counts for a request: lists in the same order, the oldest first. All null if
 * none counts.
 */
export type TransferColumns = {
  counted_chain_ids: string[] | null;
  counted_tokens: string[] | null;
  counted_tx_hashes: string[] | null;
  /** Micro units. */
  counted_micros: string[] | null;
};

/** The query `counted`, which follows `paymentsOfPage`. */
export function transfersOfPage(sql: Tag): Fragment {
  const inOrder = sql`order by a.block_time, a.chain_id, a.block_number, a.tx_hash, a.ordinal`;
  return sql`
    counted as materialized (
      select a.request_id,
        array_agg(a.chain_id ${inOrder}) as counted_chain_ids, array_agg(a.token_address ${inOrder}) as counted_tokens,
        array_agg(a.tx_hash ${inOrder}) as counted_tx_hashes, array_agg(a.value ${inOrder}) as counted_micros
      from arrived a where a.counts group by a.request_id
    )`;
}

/** The columns of `counted`, joined to a page's requests `r` by `joinTransfers`. */
export const transferColumns = (sql: Tag): Fragment =>
  sql`counted.counted_chain_ids, counted.counted_tokens, counted.counted_tx_hashes, counted.counted_micros`;

export const joinTransfers = (sql: Tag): Fragment => sql`left join counted on counted.request_id = r.id`;
