import { raiseAlarm } from '../../db/alarms.ts';
import type { Tx } from '../../db/connection.ts';
import type { FoundTransfer } from './store.ts';

const keyOf = ({ txHash, ordinal }: Pick<FoundTransfer, 'txHash' | 'ordinal'>) => `${txHash} ${ordinal}`;

/**
 * Handles transfers whose place in their transaction is taken by a row with other content. A row that is applied to no
 * request and not refunded was invented by an endpoint: it is removed. Of the others, a final one stays, because its
 * request is verified: the operator is told that what the transaction moves now is not stored.
 *
 * @returns the transfers that can be stored now
 */
export async function settleReplaced(
  tx: Tx,
  chainId: number,
  transfers: readonly FoundTransfer[],
): Promise<FoundTransfer[]> {
  const told = transfers.map((t) => ({
    ...{ tx_hash: t.txHash, ordinal: t.ordinal, token_address: t.tokenAddress },
    ...{ from_address: t.fromAddress, to_address: t.toAddress, value: t.value.toString() },
  }));
  const other = tx`
    json_to_recordset(${JSON.stringify(told)}::json) as k (tx_hash text, ordinal int, token_address text,
      from_address text, to_address text, value numeric)
    where (t.chain_id, t.tx_hash, t.ordinal) = (${chainId}, k.tx_hash, k.ordinal)
      and (t.token_address, t.from_address, t.to_address, t.value)
        <> (k.token_address, k.from_address, k.to_address, k.value)`;
  const removed = await tx<{ txHash: string; ordinal: number }[]>`
    delete from transfers t using ${other} and t.request_id is null and not exists (
      select from returns b where (b.chain_id, b.tx_hash, b.ordinal) = (t.chain_id, t.tx_hash, t.ordinal))
    returning t.tx_hash as "txHash", t.ordinal`;
  const final = await tx<{ tx_hash: string }[]>`
    select distinct t.tx_hash from transfers t, ${other} and t.final_at is not null`;
  for (const { tx_hash } of final) {
    const details = { chainId, transactions: [tx_hash] };
    await raiseAlarm(tx, { kind: 'chain-replaced', subject: `${chainId}:${tx_hash}`, details });
  }
  const freed = new Set(removed.map(keyOf));
  return transfers.filter((transfer) => freed.has(keyOf(transfer)));
}
