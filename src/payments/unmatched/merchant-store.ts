import type { Scope, Tx } from '../../db/connection.ts';
import { isRefunded } from '../../requests/refunded.ts';
import type { TransferRow } from '../transfers.ts';

/** How many transfers of a merchant await a decision, up to `limit`, without refunded ones. */
export async function countMerchantUnmatched(tx: Tx, scope: Scope, accountId: string, limit: number): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (
      select from transfers t
      where t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode} and t.account_id = ${accountId}
        and t.request_id is null and t.judged_at is not null
        and not ${isRefunded(tx)}
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
 * Unpaid requests to the same wallet that a value completes: first the one it is probably meant for, then the newest.
 * Or those that are still open and to which it leaves a rest: the smallest rest first.
 */
export function selectAttachable(
  tx: Tx,
  scope: Scope,
  transfer: TransferRow,
  madeBefore: Date,
  leaves: { restAt: Date } | 'nothing',
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
      and ${
        leaves === 'nothing'
          ? tx`r.usdc_micro <= ${transfer.value}::numeric + coalesce(counted.micro, 0)`
          : tx`r.usdc_micro > ${transfer.value}::numeric + coalesce(counted.micro, 0) and r.status <> 'expired'
              and r.expires_at > ${leaves.restAt}`
      }
    order by (r.id = ${transfer.candidate_request_id}::uuid) is true desc,
      ${leaves === 'nothing' ? tx`` : tx`r.usdc_micro - coalesce(counted.micro, 0),`} r.created_at desc limit ${limit}`;
}
