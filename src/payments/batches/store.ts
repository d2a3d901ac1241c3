import type { Tx } from '../../db/connection.ts';
import type { RequestKey } from '../../requests/proof.ts';
import type { KeyColumns, TransferRow } from '../transfers.ts';

const namesOf = (rows: readonly TransferRow[]) =>
  JSON.stringify(
    rows.map(({ partner_id, test_mode, chain_id, tx_hash, ordinal }) => ({
      ...{ partner_id, test_mode, chain_id, tx_hash, ordinal },
    })),
  );

const named = (tx: Tx, rows: readonly TransferRow[]) => tx`
  json_to_recordset(${namesOf(rows)}::json)
    as w (partner_id uuid, test_mode boolean, chain_id bigint, tx_hash text, ordinal int)`;

/** Locks those of these transfers that nobody else has locked, and returns them as they are now; over all scopes. */
export function lockFreeTransfers(tx: Tx, rows: readonly TransferRow[]): Promise<TransferRow[]> {
  return tx<TransferRow[]>`
    select t.* from ${named(tx, rows)}
      join transfers t on (t.chain_id, t.tx_hash, t.ordinal, t.partner_id, t.test_mode)
        = (w.chain_id, w.tx_hash, w.ordinal, w.partner_id, w.test_mode)
    for update of t skip locked`;
}

const ofRequests = (tx: Tx, requests: readonly RequestKey[]) => {
  const wanted = requests.map(({ partner_id, test_mode, id }) => ({ partner_id, test_mode, id }));
  return tx`
    json_to_recordset(${JSON.stringify(wanted)}::json) as w (partner_id uuid, test_mode boolean, id uuid)
      join transfers t on (t.partner_id, t.test_mode, t.request_id) = (w.partner_id, w.test_mode, w.id) and t.counts`;
};

/** Locks the transfers that count for locked requests, except those that somebody else has locked; over all scopes. */
export function lockFreeCounted(tx: Tx, requests: readonly RequestKey[]): Promise<TransferRow[]> {
  return tx<TransferRow[]>`select t.* from ${ofRequests(tx, requests)} for update of t skip locked`;
}

/** How many transfers count for each of these requests, locked by somebody else or not. */
export function countCounted(tx: Tx, requests: readonly RequestKey[]): Promise<{ id: string; count: number }[]> {
  return tx<{ id: string; count: number }[]>`
    select w.id, count(*)::int as count from ${ofRequests(tx, requests)} group by w.id`;
}

/** Which of these transfers are refunded, or about to be; over all scopes. */
export function selectRefunded(tx: Tx, rows: readonly TransferRow[]): Promise<KeyColumns[]> {
  return tx<KeyColumns[]>`
    select b.chain_id, b.tx_hash, b.ordinal from ${named(tx, rows)}
      join returns b on (b.chain_id, b.tx_hash, b.ordinal, b.partner_id, b.test_mode)
        = (w.chain_id, w.tx_hash, w.ordinal, w.partner_id, w.test_mode)
    where b.state <> 'kept'`;
}
