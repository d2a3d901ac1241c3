import type { Database, Scope, Tx } from '../../db/connection.ts';

export type HintState = 'seen' | 'mined' | 'failed' | 'replaced' | 'gone';

/** A row of `payment_hints`. */
export type HintRow = {
  request_id: string;
  chain_id: string;
  tx_hash: string;
  from_address: string;
  nonce: string;
  seen_block: string;
  state: HintState;
  replaced_by: string | null;
  first_seen_at: Date;
  checked_at: Date;
  /** What it moves to the request's wallet; null while only its being mined can tell. */
  value: string | null;
  /** When the first hint of its request was. */
  heard_at: Date;
};

export type NewHint = {
  requestId: string;
  chainId: number;
  txHash: string;
  fromAddress: string;
  nonce: number;
  seenBlock: number;
  state: HintState;
  valueMicro: bigint | null;
};

/** Kept of one request; anybody can send transactions that look like its payment. */
const maxHints = 10;

/** Stores a hint, or what is news of one that is known, and drops the oldest beyond ten of its request. */
export async function upsertHint(tx: Tx, scope: Scope, hint: NewHint): Promise<void> {
  await tx`
    insert into payment_hints (partner_id, test_mode, request_id, chain_id, tx_hash, from_address, nonce, seen_block, state,
      value, heard_at)
    values (${scope.partnerId}, ${scope.testMode}, ${hint.requestId}, ${hint.chainId}, ${hint.txHash}, ${hint.fromAddress},
      ${hint.nonce}, ${hint.seenBlock}, ${hint.state}, ${hint.valueMicro?.toString() ?? null},
      coalesce((select min(heard_at) from payment_hints
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${hint.requestId}), now()))
    on conflict (partner_id, test_mode, request_id, chain_id, tx_hash) do update
      set state = excluded.state, replaced_by = null, checked_at = excluded.checked_at`;
  await tx`
    delete from payment_hints
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${hint.requestId}
      and (chain_id, tx_hash) in (
        select chain_id, tx_hash from payment_hints
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${hint.requestId}
        order by first_seen_at desc, tx_hash offset ${maxHints})`;
}

/** What the watcher has brought is told by its transfer; what the transaction pays other wallets is none. */
const isUnread = (tx: Tx) => tx`
  not exists (select from transfers t where (t.chain_id, t.tx_hash) = (h.chain_id, h.tx_hash)
    and t.partner_id = h.partner_id and t.test_mode = h.test_mode
    and t.to_address = (
      select r.wallet_address from requests r
      where (r.partner_id, r.test_mode, r.id) = (h.partner_id, h.test_mode, h.request_id)))`;

/** The hints of a request that are no stored transfer yet, newest first. */
export function selectHints(tx: Tx, scope: Scope, requestId: string): Promise<HintRow[]> {
  return tx<HintRow[]>`
    select * from payment_hints h
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId} and ${isUnread(tx)}
    order by first_seen_at desc, tx_hash limit ${maxHints}`;
}

/** Takes the hints whose chain is to be asked again; nobody else takes them for a second. */
export function claimHints(tx: Tx, scope: Scope, requestId: string): Promise<HintRow[]> {
  return tx<HintRow[]>`
    update payment_hints h set checked_at = clock_timestamp()
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId}
      and state in ('seen', 'mined', 'gone') and checked_at <= clock_timestamp() - interval '1 second' and ${isUnread(tx)}
    returning *`;
}

export async function updateHint(
  tx: Tx,
  scope: Scope,
  row: HintRow,
  change: { state: HintState; replacedBy: string | null; valueMicro?: bigint },
): Promise<void> {
  await tx`
    update payment_hints set state = ${change.state}, replaced_by = ${change.replacedBy},
      value = coalesce(${change.valueMicro?.toString() ?? null}::numeric, value)
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${row.request_id}
      and chain_id = ${row.chain_id} and tx_hash = ${row.tx_hash}`;
}

export async function deleteHint(tx: Tx, scope: Scope, row: HintRow): Promise<void> {
  await tx`
    delete from payment_hints
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${row.request_id}
      and chain_id = ${row.chain_id} and tx_hash = ${row.tx_hash}`;
}

/** Removes hints that are older than three days, over all scopes. */
export async function deleteOldHints(db: Database, limit: number): Promise<number> {
  const rows = await db.sql`
    delete from payment_hints where (partner_id, test_mode, request_id, chain_id, tx_hash) in (
      select partner_id, test_mode, request_id, chain_id, tx_hash from payment_hints
      where first_seen_at < now() - interval '3 days' order by first_seen_at limit ${limit} for update skip locked)
    returning tx_hash`;
  return rows.length;
}
