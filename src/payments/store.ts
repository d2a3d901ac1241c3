import type { Scope, Tx } from '../db/connection.ts';
import type { Reason, Rule, Transfer } from './rules.ts';
import { isKey, type TransferKey, type TransferRow } from './transfers.ts';

/** A transfer that counts and was postponed this often could not be confirmed for two minutes. */
const doubtedAfterChecks = 8;

/**
 * Whether endpoints that answer have failed for long to confirm a transfer that counts, so that it may never become
 * final.
 */
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

/** Where the wallets that transfers reached can be paid, according to their merchants; null: on any chain. */
export async function selectWalletChains(
  tx: Tx,
  rows: readonly TransferRow[],
): Promise<Map<TransferRow, number[] | null>> {
  if (rows.length === 0) return new Map();
  const wanted = rows.map(({ partner_id, test_mode, account_id, to_address }, place) => ({
    ...{ place, partner_id, test_mode, account_id, to_address },
  }));
  const found = await tx<{ place: number; chain_ids: number[] | null }[]>`
    select w.place, wallet_chains(m, w.to_address) as chain_ids
    from json_to_recordset(${JSON.stringify(wanted)}::json)
        as w (place int, partner_id uuid, test_mode boolean, account_id uuid, to_address text)
      join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)`;
  return new Map(found.map(({ place, chain_ids }) => [rows[place] as TransferRow, chain_ids]));
}

/**
 * The transfers of one transaction to wallets of the scope, those to one wallet first, then the largest. At most 100,
 * because anybody can surround a payment with thousands of tiny ones. Amounts of other tokens may be worth nothing.
 *
 * @param of `wallet`: the wallet whose transfers come first; `accountId`: only those to this merchant
 */
export function selectByHash(
  tx: Tx,
  scope: Scope,
  { txHash, chainIds }: { txHash: string; chainIds: number[] },
  of: { wallet: string } | { accountId: string | null },
): Promise<TransferRow[]> {
  const accountId = 'accountId' in of ? of.accountId : null;
  const wallet = 'wallet' in of ? of.wallet : null;
  return tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and chain_id = any(${chainIds}::bigint[]) and tx_hash = ${txHash}
      ${accountId === null ? tx`` : tx`and account_id = ${accountId}`}
    order by (to_address = ${wallet}) is true desc, (reason = 'wrong_token') is true, value desc, chain_id, ordinal
    limit 100`;
}

/** The condition that a transfer seems meant for a request and is applied to none. */
const isCandidate = (tx: Tx, scope: Scope, requestId: string) => tx`
  partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id is null
    and candidate_request_id = ${requestId} and judged_at is not null`;

/** The order of the index of candidates. */
const largestFirst = (tx: Tx) => tx`order by (reason = 'wrong_token') is true, value desc, block_time desc`;

/**
 * The largest transfers that seem meant for a request and are applied to none, newest first. Only the largest, because
 * anybody can send dust that names the request. Amounts of other tokens may be worth nothing.
 */
export function selectCandidates(tx: Tx, scope: Scope, requestId: string): Promise<TransferRow[]> {
  return tx<TransferRow[]>`
    select * from (
      select * from transfers
      where ${isCandidate(tx, scope, requestId)} ${largestFirst(tx)} limit 20) largest
    order by block_time desc, chain_id, tx_hash, ordinal`;
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

/** A transfer in its scope and in its block. */
const fullKey = ({ partner_id, test_mode, chain_id, tx_hash, ordinal, block_hash }: TransferRow) => ({
  ...{ partner_id, test_mode, chain_id, tx_hash, ordinal, block_hash },
});

/** Whether a transfer `t` is the one that `k` names. */
const isFullKey = (tx: Tx) => tx`
  (t.chain_id, t.tx_hash, t.ordinal, t.partner_id, t.test_mode, t.block_hash)
    = (k.chain_id, k.tx_hash, k.ordinal, k.partner_id, k.test_mode, k.block_hash)`;

export type MatchResult =
  | { requestId: string; rule: Rule; reason: null }
  | { requestId: null; candidateId: string | null; reason: Reason };

/**
 * Stores the outcome of transfers. A transfer that was final for one request may not be for another, since a larger one
 * may wait longer.
 *
 * @param from the state they must still be in: not matched yet, or found to be unmatched
 * @returns how many were stored; another process may have been faster, or a transfer may have moved to another block
 */
export async function updateMatches(
  tx: Tx,
  from: 'pending' | 'unmatched',
  matches: readonly { row: TransferRow; result: MatchResult }[],
  now: Date,
): Promise<number> {
  const rows = matches.map(({ row, result }) => ({
    ...fullKey(row),
    request_id: result.requestId,
    candidate_id: result.requestId === null ? result.candidateId : null,
    rule: result.requestId === null ? null : result.rule,
    reason: result.reason,
  }));
  const { count } = await tx`
    update transfers t set request_id = k.request_id, rule = k.rule, candidate_request_id = k.candidate_id,
      reason = k.reason, counts = k.request_id is not null, judged_at = ${now},
      final_at = case when k.request_id is null then t.final_at end, looks = 0, look_at = now(), denials = 0,
      denied_at = null
    from json_to_recordset(${JSON.stringify(rows)}::json) as k (partner_id uuid, test_mode boolean, chain_id bigint,
      tx_hash text, ordinal int, block_hash text, request_id uuid, candidate_id uuid, rule text, reason text)
    where ${isFullKey(tx)} and t.request_id is null
      and ${from === 'pending' ? tx`t.judged_at is null` : tx`t.judged_at is not null`}`;
  return count;
}

/** Marks transfers as final if they are still in the block that was found final. */
export async function updateFinals(tx: Tx, finals: readonly { row: TransferRow; at: Date }[]): Promise<void> {
  if (finals.length === 0) return;
  const rows = finals.map(({ row, at }) => ({ ...fullKey(row), at }));
  await tx`
    update transfers t set final_at = k.at
    from json_to_recordset(${JSON.stringify(rows)}::json) as k (partner_id uuid, test_mode boolean, chain_id bigint,
      tx_hash text, ordinal int, block_hash text, at timestamptz)
    where ${isFullKey(tx)} and t.counts and t.final_at is null`;
}

/** More than can count for one request (`maxTransfers`). */
const maxRematched = 100;

/**
 * Lets second payments of a request be matched again, now that the first was removed or is doubted. Only the largest
 * ones: anybody can send any number, and the reader of the chain waits for this.
 */
export async function updateRematch(tx: Tx, scope: Scope, requestId: string): Promise<void> {
  const isSecond = tx`${isCandidate(tx, scope, requestId)} and reason = 'already_paid'`;
  await tx`
    update transfers set judged_at = null, reason = null, candidate_request_id = null
    where ${isSecond} and (chain_id, tx_hash, ordinal) in (
      select chain_id, tx_hash, ordinal from transfers where ${isSecond} ${largestFirst(tx)} limit ${maxRematched})`;
}
