import type { Scope, Tx } from '../../db/connection.ts';
import type { TransferKey, TransferRow } from '../store.ts';
import { isKept } from './store.ts';

/** How many transfers of a merchant wait for a decision: up to `limit`, given back ones left out. */
export async function countMerchantUnmatched(tx: Tx, scope: Scope, accountId: string, limit: number): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (
      select from transfers t
      where t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode} and t.account_id = ${accountId}
        and t.request_id is null and t.judged_at is not null
        and ${isKept(tx)}
      limit ${limit}) as waiting`;
  return row?.count ?? 0;
}

/** A request that an unmatched transfer could pay, and what it has already. */
export type AttachableRow = {
  id: string;
  fiat_int: string;
  fiat_code: string;
  usdc_micro: string;
  counted_micro: string;
  memo: string | null;
  customer_name: string | null;
  created_at: Date;
  expires_at: Date;
};

/**
 * Requests to the same wallet that are not paid and that a value completes, the one it seems meant for first, then the
 * newest.
 */
export function selectAttachable(
  tx: Tx,
  scope: Scope,
  transfer: TransferRow,
  madeBefore: Date,
  limit: number,
): Promise<AttachableRow[]> {
  return tx<AttachableRow[]>`
    select r.id, r.fiat_int, r.fiat_code, r.usdc_micro, coalesce(counted.micro, 0)::text as counted_micro, r.memo,
      r.customer_name, coalesce(r.made_at, r.created_at) as created_at, r.expires_at
    from requests r left join lateral (
      select sum(t.value) as micro from transfers t
      where t.partner_id = r.partner_id and t.test_mode = r.test_mode and t.request_id = r.id and t.counts) counted on true
    where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode}
      and r.wallet_address = ${transfer.to_address} and r.account_id = ${transfer.account_id}
      and (r.wallet_chain_ids is null or ${transfer.chain_id}::bigint = any(r.wallet_chain_ids))
      and coalesce(r.made_at, r.created_at) <= ${madeBefore} and r.proof_status = 'none' and r.status <> 'voided'
      and r.usdc_micro <= ${transfer.value}::numeric + coalesce(counted.micro, 0)
    order by (r.id = ${transfer.candidate_request_id}::uuid) is true desc, r.created_at desc limit ${limit}`;
}

/**
 * Locks a transfer until the transaction ends: it is bound or given back, not both.
 *
 * @param accountId the merchant whose it must be: nobody else can lock it; null for the service itself
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

/** How many merchants and requests of a partner a wallet has paid, up to `limit` of its transfers. */
export async function selectPayerReach(
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
