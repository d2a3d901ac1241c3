import type { Scope, Tx } from '../db/connection.ts';
import type { RequestRow } from './store.ts';

/** A transfer that adds to the sum which pays the request. */
export type CountedTransfer = {
  chain_id: string;
  tx_hash: string;
  value: string;
  block_number: string;
  block_time: Date;
  /** Last block the chain was read to; null before the first. */
  head_number: string | null;
};

/** What the pay page shows beyond the request itself. */
export type PayPageRow = RequestRow & {
  merchant_name: string | null;
  wallet_chain_ids: number[] | null;
  partner_name: string;
};

export async function selectPayPage(
  tx: Tx,
  scope: Scope,
  id: string,
): Promise<{ row: PayPageRow; transfers: CountedTransfer[] } | null> {
  const [rows, transfers] = await Promise.all([
    tx<PayPageRow[]>`
      select r.*, coalesce(m.business_name, m.display_name) as merchant_name, m.wallet_chain_ids, p.name as partner_name
      from requests r
        join merchants m on (m.partner_id, m.test_mode, m.id) = (r.partner_id, r.test_mode, r.account_id)
        join partners p on p.id = r.partner_id
      where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${id}`.execute(),
    tx<CountedTransfer[]>`
      select t.chain_id, t.tx_hash, t.value, t.block_number, t.block_time, c.head_number
      from transfers t left join chain_cursors c using (chain_id)
      where t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode} and t.request_id = ${id} and t.counts
      order by t.block_time, t.chain_id, t.tx_hash, t.ordinal limit 20`.execute(),
  ]);
  return rows[0] ? { row: rows[0], transfers: [...transfers] } : null;
}
