import type { AlarmDetails } from '../../db/alarm-kinds.ts';
import { clearAlarms, raiseAlarm } from '../../db/alarms.ts';
import type { Tx } from '../../db/connection.ts';

/** At most this many transactions, and requests, are named to the operator. */
const maxNamed = { transactions: 20, requests: 100 };

/**
 * Raises alarms about final transfers that a reorganisation has removed: those in blocks after this one. Their rows
 * stay, and so do the requests that they verified. Nothing ends the chain's alarm, so it goes on naming earlier ones.
 */
export async function raiseReversed(tx: Tx, chainId: number, ancestor: number): Promise<void> {
  const rows = await tx<{ tx_hash: string; request_id: string | null }[]>`
    select t.tx_hash, r.id as request_id from transfers t
      left join requests r on (r.partner_id, r.test_mode, r.id) = (t.partner_id, t.test_mode, t.request_id)
        and r.proof_status = 'verified'
    where t.chain_id = ${chainId} and t.block_number > ${ancestor} and t.final_at is not null
    order by t.block_number desc, t.tx_hash limit ${maxNamed.requests}`;
  if (rows.length === 0) return;
  const [raised] = await tx<{ details: AlarmDetails['chain-final-reorged'] }[]>`
    select details from alarms
    where kind = 'chain-final-reorged' and subject = ${String(chainId)} and cleared_at is null`;
  const all = new Set([...rows.map((row) => row.tx_hash), ...(raised?.details.transactions ?? [])]);
  const transactions = [...all].slice(0, maxNamed.transactions);
  await raiseAlarm(tx, { kind: 'chain-final-reorged', subject: String(chainId), details: { chainId, transactions } });
  for (const requestId of new Set(rows.flatMap((row) => row.request_id ?? []))) {
    await raiseAlarm(tx, { kind: 'verified-reorged', subject: requestId, details: { requestId } });
  }
}

/** The request of a final transfer that was mined again as it was. */
export type MinedAgain = { partner_id: string; test_mode: boolean; request_id: string };

/** Ends the alarms of requests whose payments are all on the chain again. */
export async function clearReversed(tx: Tx, chainId: number, again: readonly MinedAgain[]): Promise<void> {
  if (again.length === 0) return;
  const rows = await tx<{ request_id: string }[]>`
    select k.request_id
    from json_to_recordset(${JSON.stringify(again)}::json) as k (partner_id uuid, test_mode boolean, request_id uuid)
    where not exists (
      select from transfers t
      where (t.partner_id, t.test_mode, t.request_id) = (k.partner_id, k.test_mode, k.request_id) and t.counts
        and t.chain_id = ${chainId} and t.block_number >= (select min(number) from chain_blocks where chain_id = ${chainId})
        and not exists (
          select from chain_blocks b where (b.chain_id, b.number, b.hash) = (t.chain_id, t.block_number, t.block_hash)))`;
  await clearAlarms(
    tx,
    rows.map(({ request_id: subject }) => ({ kind: 'verified-reorged', subject })),
  );
}
