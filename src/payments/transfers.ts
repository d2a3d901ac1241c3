import type { Database, Scope, Sql, Tx } from '../db/connection.ts';
import type { Reason, Rule } from './rules.ts';

/** What names a transfer on a chain; a reorganisation may move it to another block. */
export type TransferKey = { chainId: number; txHash: string; ordinal: number };

/**
 * A row of `transfers`. In its column names, judged means matched, looks are postponements, and denials are checks in
 * which all endpoints denied it.
 */
export type TransferRow = {
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  log_index: number | null;
  block_number: string;
  block_hash: string;
  block_time: Date;
  token_address: string;
  from_address: string;
  to_address: string;
  value: string;
  partner_id: string;
  test_mode: boolean;
  account_id: string;
  calldata_reference: Uint8Array | null;
  calldata_read: boolean;
  /** The nonce of the EIP-3009 authorization that it executed. */
  authorization_nonce: Uint8Array | null;
  /** The request's reference in the log of an automatic charge. */
  charged_reference: Uint8Array | null;
  logs_read: boolean;
  request_id: string | null;
  candidate_request_id: string | null;
  rule: Rule | null;
  reason: Reason | null;
  counts: boolean;
  judged_at: Date | null;
  final_at: Date | null;
  /** How often it was postponed since it was matched. */
  looks: number;
  /** In how many checks in a row all endpoints denied it. */
  denials: number;
};

/** The columns of a transfer's key. */
export type KeyColumns = Pick<TransferRow, 'chain_id' | 'tx_hash' | 'ordinal'>;

/** The key of a stored transfer: chain, transaction, and the ordinal of its log among those of its transaction. */
export function keyOf(row: KeyColumns): TransferKey {
  return { chainId: Number(row.chain_id), txHash: row.tx_hash, ordinal: row.ordinal };
}

export function isSameTransfer(a: TransferKey, b: TransferKey): boolean {
  return a.chainId === b.chainId && a.txHash === b.txHash && a.ordinal === b.ordinal;
}

/** Whether two rows are the same transfer, whatever else has changed. */
export const isSameRow = (a: KeyColumns, b: KeyColumns) => isSameTransfer(keyOf(a), keyOf(b));

/** The condition on a table with the columns `chain_id`, `tx_hash` and `ordinal` that a row has this key. */
export const isKey = (sql: Sql | Tx, key: TransferKey) =>
  sql`chain_id = ${key.chainId} and tx_hash = ${key.txHash} and ordinal = ${key.ordinal}`;

/** A payment of a scope; null when the scope has no such payment. */
export function readTransfer(db: Database, scope: Scope, key: TransferKey): Promise<TransferRow | null> {
  return db.scoped(scope, (tx) => selectTransfer(tx, scope, key));
}

/** A stored transfer, without a lock; null when the scope has no such transfer. */
export async function selectTransfer(tx: Tx, scope: Scope, key: TransferKey): Promise<TransferRow | null> {
  const [row] = await tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and ${isKey(tx, key)}`;
  return row ?? null;
}

/** The transfers that pay a request, in the order of the chain. */
export function selectCounted(tx: Tx, scope: Scope, requestId: string): Promise<TransferRow[]> {
  return tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId} and counts
    order by block_time, chain_id, block_number, tx_hash, ordinal`;
}

/** Detaches a partial payment from its request, which is locked; it stays marked as meant for it. */
export async function updateReleased(tx: Tx, scope: Scope, key: TransferKey, requestId: string): Promise<void> {
  await tx`
    update transfers set request_id = null, candidate_request_id = ${requestId}, rule = null, counts = false,
      reason = 'released'
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and ${isKey(tx, key)}
      and request_id = ${requestId}`;
}

/**
 * Locks a transfer until the transaction ends: it is either applied or refunded, not both.
 *
 * @param accountId the merchant who must own it, so nobody else can lock it; null for the service itself
 */
export async function lockTransfer(
  tx: Tx,
  scope: Scope,
  key: TransferKey,
  accountId: string | null,
): Promise<TransferRow | null> {
  const [row] = await tx<TransferRow[]>`
    select * from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and chain_id = ${key.chainId} and tx_hash = ${key.txHash} and ordinal = ${key.ordinal}
      ${accountId === null ? tx`` : tx`and account_id = ${accountId}`} for update nowait`;
  return row ?? null;
}

/** How many merchants and requests of a partner a wallet has paid, among up to `limit` of its transfers. */
export async function countPaidBy(
  tx: Tx,
  scope: Scope,
  fromAddress: string,
  limit: number,
): Promise<{ accounts: number; requests: number }> {
  const [row] = await tx<{ accounts: number; requests: number }[]>`
    select count(distinct account_id)::int as accounts, count(distinct request_id)::int as requests from (
      select account_id, request_id from transfers
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and from_address = ${fromAddress}
      limit ${limit}) as seen`;
  return row ?? { accounts: 0, requests: 0 };
}

/** What names a transfer in an address: `31337_0x…_0`. */
export function writeTransferKey({ chainId, txHash, ordinal }: TransferKey): string {
  return `${chainId}_${txHash}_${ordinal}`;
}

/** The key in an address; null if it is none. */
export function readTransferKey(text: string): TransferKey | null {
  const match = /^(\d{1,15})_(0x[0-9a-f]{64})_(\d{1,6})$/.exec(text);
  return match && { chainId: Number(match[1]), txHash: match[2] as string, ordinal: Number(match[3]) };
}

/** The rows `b` of `returns` with a refund of one of these transfers that was made or started, and not cancelled. */
export function fromRefundsOf(tx: Tx, scope: Scope, keys: TransferKey[]) {
  const wanted = keys.map(({ chainId, txHash, ordinal }) => ({ chain_id: chainId, tx_hash: txHash, ordinal }));
  return tx`
    from returns b
      join json_to_recordset(${JSON.stringify(wanted)}::json) as w (chain_id bigint, tx_hash text, ordinal int)
        using (chain_id, tx_hash, ordinal)
    where b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.state <> 'kept'`;
}

/** Which of these transfers are refunded, or about to be: they pay nothing. */
export async function selectWithRefund(tx: Tx, scope: Scope, keys: TransferKey[]): Promise<TransferKey[]> {
  const rows = await tx<KeyColumns[]>`
    select b.chain_id, b.tx_hash, b.ordinal ${fromRefundsOf(tx, scope, keys)}`;
  return rows.map(keyOf);
}

/** Whether a transfer is refunded, or about to be. */
export async function hasRefund(tx: Tx, scope: Scope, key: TransferKey): Promise<boolean> {
  return (await selectWithRefund(tx, scope, [key])).length > 0;
}

/**
 * Lets unmatched transfers to a merchant be matched again that an automatic charge made for a reference: they may have
 * been read before its request was known.
 */
export async function updateRematchCharged(
  tx: Tx,
  scope: Scope,
  accountId: string,
  reference: Uint8Array,
): Promise<void> {
  await tx`
    update transfers set judged_at = null, reason = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and request_id is null and reason = 'no_match' and charged_reference = ${Buffer.from(reference)}`;
}
