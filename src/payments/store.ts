import type { Scope, Sql, Tx } from '../db/connection.ts';
import type { Reason, Rule, Transfer } from './rules.ts';
import { isKey, keyOf, type TransferKey, type TransferRow } from './transfers.ts';

/** Put off so often, a transfer that counts could not be confirmed for two minutes. */
const doubtedAfterChecks = 8;

/** Whether responding endpoints have long failed to confirm a transfer that counts: it may never become final. */
export function isDoubted({ final_at, looks }: Pick<TransferRow, 'final_at' | 'looks'>): boolean {
  return final_at === null && looks >= doubtedAfterChecks;
}

const hexOf = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString('hex');

/** A row as the rules read it. */
export function toTransfer(row: TransferRow): Transfer {
  return {
    chainId: Number(row.chain_id),
    tokenAddress: row.token_address,
    from: row.from_address,
    to: row.to_address,
    value: BigInt(row.value),
    blockNumber: Number(row.block_number),
    blockTime: row.block_time,
    reference: hexOf(row.calldata_reference),
    authorizationNonce: hexOf(row.authorization_nonce),
    chargedReference: hexOf(row.charged_reference),
  };
}

/** How far a chain was read, as the watcher keeps it. */
export type CursorRow = {
  chain_id: string;
  number: string;
  block_time: Date;
  safe_number: string | null;
  finalized_number: string | null;
};

/** How far these chains were read; a chain that was never read is missing. */
export async function selectCursors(sql: Sql | Tx, chainIds: number[]): Promise<CursorRow[]> {
  return sql<CursorRow[]>`
    select chain_id, number, block_time, safe_number, finalized_number from chain_cursors
    where chain_id = any(${chainIds}::bigint[])`;
}

/** Where the wallet that a transfer reached can be paid, according to its merchant; null: on any chain. */
export async function selectWalletChains(tx: Tx, scope: Scope, row: TransferRow): Promise<number[] | null> {
  const [found] = await tx<{ chain_ids: number[] | null }[]>`
    select wallet_chains(m, ${row.to_address}) as chain_ids from merchants m
    where m.partner_id = ${scope.partnerId} and m.test_mode = ${scope.testMode} and m.id = ${row.account_id}`;
  return found?.chain_ids ?? null;
}

/** The transfers of one transaction to wallets of the scope, in its order. */
export function selectByHash(tx: Tx, scope: Scope, txHash: string, chainIds: number[]): Promise<TransferRow[]> {
  return tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and chain_id = any(${chainIds}::bigint[]) and tx_hash = ${txHash}
    order by chain_id, ordinal limit 100`;
}

/** Transfers that seem meant for a request and are applied to none, newest first. */
export function selectCandidates(tx: Tx, scope: Scope, requestId: string): Promise<TransferRow[]> {
  return tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id is null
      and candidate_request_id = ${requestId} and judged_at is not null
    order by block_time desc, chain_id, tx_hash, ordinal limit 20`;
}

/**
 * Locks a transfer and those that already count for a request, whose own lock is held.
 *
 * The watcher locks transfers before the request, so this must not wait, or the two could deadlock.
 *
 * @throws PostgresError 55P03 while another transaction holds one of them: try again later
 */
export function lockTransfers(
  tx: Tx,
  scope: Scope,
  requestId: string,
  key: TransferKey | null,
): Promise<TransferRow[]> {
  return tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and ((request_id = ${requestId} and counts) ${key ? tx`or (${isKey(tx, key)})` : tx``})
    order by block_time, chain_id, block_number, tx_hash, ordinal for update nowait`;
}

export type MatchResult =
  | { requestId: string; rule: Rule; reason: null }
  | { requestId: null; candidateId: string | null; reason: Reason };

/**
 * Stores what became of a transfer; false when another process was faster, or the transfer moved to another block. What
 * was final for one request is not for another: a dear one may wait longer.
 *
 * @param from the state it must still be in: not matched yet, or found to be unmatched
 */
export async function updateMatch(
  tx: Tx,
  scope: Scope,
  row: TransferRow,
  from: 'pending' | 'unmatched',
  result: MatchResult,
  now: Date,
): Promise<boolean> {
  const applied = result.requestId !== null;
  const rows = await tx`
    update transfers set request_id = ${result.requestId}, rule = ${applied ? result.rule : null},
      candidate_request_id = ${applied ? null : result.candidateId}, reason = ${result.reason}, counts = ${applied},
      judged_at = ${now}, final_at = ${applied ? null : tx`final_at`}, looks = 0, look_at = now(),
      denials = 0, denied_at = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and ${isKey(tx, keyOf(row))}
      and block_hash = ${row.block_hash} and request_id is null
      and ${from === 'pending' ? tx`judged_at is null` : tx`judged_at is not null`}
    returning ordinal`;
  return rows.length > 0;
}

/** Marks a transfer as final, if it still stands in the block that was found final. */
export async function updateFinal(tx: Tx, scope: Scope, row: TransferRow, now: Date): Promise<void> {
  await tx`
    update transfers set final_at = ${now}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and ${isKey(tx, keyOf(row))}
      and block_hash = ${row.block_hash} and counts and final_at is null`;
}

/** Lets the transfers that came second be matched anew, now that the first was removed or is doubted. */
export async function updateRematch(tx: Tx, scope: Scope, requestId: string): Promise<void> {
  await tx`
    update transfers set judged_at = null, reason = null, candidate_request_id = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id is null
      and candidate_request_id = ${requestId} and reason = 'already_paid'`;
}
