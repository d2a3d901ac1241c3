import type { Database, Scope, Tx } from '../../db/connection.ts';
import type { RequestRow, StartHead } from '../../requests/store.ts';

export type SubmittedState = 'seen' | 'mined' | 'failed' | 'replaced' | 'gone';

/** A row of `payment_hints`, where submitted transactions are stored. */
export type SubmittedRow = {
  request_id: string;
  chain_id: string;
  tx_hash: string;
  from_address: string;
  nonce: string;
  seen_block: string;
  state: SubmittedState;
  replaced_by: string | null;
  first_seen_at: Date;
  checked_at: Date;
  /** The amount it moves to the request's wallet; null if that is known only once it is mined. */
  value: string | null;
  /** When the request's first transaction was submitted. */
  heard_at: Date;
};

export type NewSubmitted = {
  requestId: string;
  chainId: number;
  txHash: string;
  fromAddress: string;
  nonce: number;
  seenBlock: number;
  state: SubmittedState;
  valueMicro: bigint | null;
};

/** How many are kept for one request; anybody can send transactions that look like its payment. */
const maxSubmitted = 10;

/** A block of a chain; its time is null if it was not stored. */
export type StartBlock = { number: number; time: Date | null };

/**
 * The newest blocks that were known when a request was created, by chain id, without those that are known to be
 * reorganised away: after a reorganisation that left the chain shorter, later payments are in lower blocks. Of blocks
 * that are too old to be stored, this is not known.
 *
 * @param startBlocks as the request stores them
 */
export async function selectStandingStarts(
  { sql }: Database,
  startBlocks: RequestRow['start_blocks'],
): Promise<Record<string, StartBlock>> {
  const { heads = {}, ...numbers } = startBlocks as Record<string, unknown> & { heads?: Record<string, StartHead> };
  const starts = Object.entries(numbers).map(([id, number]) => ({ chain_id: id, number, ...heads[id] }));
  const rows = await sql<{ chain_id: string; number: string; time: Date | null }[]>`
    select w.chain_id, w.number, w.time
    from json_to_recordset(${JSON.stringify(starts)}::json) as w (chain_id bigint, number bigint, hash text, time timestamptz)
    where not exists (
        select from chain_blocks b where b.chain_id = w.chain_id and b.number = w.number and b.hash <> w.hash)
      and not exists (select from chain_cursors c where c.chain_id = w.chain_id and c.number < w.number)`;
  return Object.fromEntries(rows.map(({ chain_id, number, time }) => [chain_id, { number: Number(number), time }]));
}

/** Stores a submitted transaction, or the new state of a known one, and drops the oldest beyond ten of its request. */
export async function upsertSubmitted(tx: Tx, scope: Scope, submitted: NewSubmitted): Promise<void> {
  await tx`
    insert into payment_hints (partner_id, test_mode, request_id, chain_id, tx_hash, from_address, nonce, seen_block, state,
      value, heard_at)
    values (${scope.partnerId}, ${scope.testMode}, ${submitted.requestId}, ${submitted.chainId}, ${submitted.txHash}, ${submitted.fromAddress},
      ${submitted.nonce}, ${submitted.seenBlock}, ${submitted.state}, ${submitted.valueMicro?.toString() ?? null},
      coalesce((select min(heard_at) from payment_hints
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${submitted.requestId}), now()))
    on conflict (partner_id, test_mode, request_id, chain_id, tx_hash) do update
      set state = excluded.state, replaced_by = null, checked_at = excluded.checked_at`;
  await tx`
    delete from payment_hints
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${submitted.requestId}
      and (chain_id, tx_hash) in (
        select chain_id, tx_hash from payment_hints
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${submitted.requestId}
        order by first_seen_at desc, tx_hash offset ${maxSubmitted})`;
}

/** Once the watcher has stored its transfer, that transfer describes it. Transfers to other wallets do not count. */
const isUnread = (tx: Tx) => tx`
  not exists (select from transfers t where (t.chain_id, t.tx_hash) = (h.chain_id, h.tx_hash)
    and t.partner_id = h.partner_id and t.test_mode = h.test_mode
    and t.to_address = (
      select r.wallet_address from requests r
      where (r.partner_id, r.test_mode, r.id) = (h.partner_id, h.test_mode, h.request_id)))`;

/** The submitted transactions of a request of which no transfer is stored yet, newest first. */
export function selectSubmitted(tx: Tx, scope: Scope, requestId: string): Promise<SubmittedRow[]> {
  return tx<SubmittedRow[]>`
    select * from payment_hints h
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId} and ${isUnread(tx)}
    order by first_seen_at desc, tx_hash limit ${maxSubmitted}`;
}

/** Claims those whose chain is to be queried again; nobody else claims them for a second. */
export function claimSubmitted(tx: Tx, scope: Scope, requestId: string): Promise<SubmittedRow[]> {
  return tx<SubmittedRow[]>`
    update payment_hints h set checked_at = clock_timestamp()
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId}
      and state in ('seen', 'mined', 'gone') and checked_at <= clock_timestamp() - interval '1 second' and ${isUnread(tx)}
    returning *`;
}

/** Stores the new state of a submitted transaction. Without `valueMicro`, its value stays. */
export async function updateSubmitted(
  tx: Tx,
  scope: Scope,
  row: SubmittedRow,
  change: { state: SubmittedState; replacedBy: string | null; valueMicro?: bigint },
): Promise<void> {
  await tx`
    update payment_hints set state = ${change.state}, replaced_by = ${change.replacedBy},
      value = coalesce(${change.valueMicro?.toString() ?? null}::numeric, value)
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${row.request_id}
      and chain_id = ${row.chain_id} and tx_hash = ${row.tx_hash}`;
}

export async function deleteSubmitted(tx: Tx, scope: Scope, row: SubmittedRow): Promise<void> {
  await tx`
    delete from payment_hints
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${row.request_id}
      and chain_id = ${row.chain_id} and tx_hash = ${row.tx_hash}`;
}

/** Removes submitted transactions that are older than three days, over all scopes. */
export async function deleteOldSubmitted(db: Database, limit: number): Promise<number> {
  const rows = await db.sql`
    delete from payment_hints where (partner_id, test_mode, request_id, chain_id, tx_hash) in (
      select partner_id, test_mode, request_id, chain_id, tx_hash from payment_hints
      where first_seen_at < now() - interval '3 days' order by first_seen_at limit ${limit} for update skip locked)
    returning tx_hash`;
  return rows.length;
}
