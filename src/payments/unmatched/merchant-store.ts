import type { Scope, Tx } from '../../db/connection.ts';
import { constant, type Fragment } from '../../db/sql.ts';
import { unionBranches } from '../../db/union-branches.ts';
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

/** This many of a merchant's newest unpaid requests are considered, besides those that are partly paid. */
const maxLooked = 10_000;

/**
 * Unpaid requests to the same wallet. The one that the transfer is probably meant for comes first, then the nearest
 * amount, then the newest. What was paid is summed for all at once.
 *
 * @param leaves `nothing`: those that the transfer completes; otherwise those that are open at `restAt`, and to which it
 * leaves a rest
 */
export function selectAttachable(
  tx: Tx,
  scope: Scope,
  transfer: TransferRow,
  { madeBefore, leaves, limit }: { madeBefore: Date; leaves: { restAt: Date } | 'nothing'; limit: number },
): Promise<AttachableRow[]> {
  const own = tx`partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  const states = leaves === 'nothing' ? ['requested', 'opened', 'expired'] : ['requested', 'opened'];
  const inState = states.map(
    (status) => tx`
      select * from requests where ${own} and account_id = ${transfer.account_id} and status = ${status}
        and proof_status = 'none'`,
  );
  const newest = unionBranches(tx, inState, tx`order by created_at desc limit ${constant(maxLooked)}`);
  // The named request is read first, behind an optimisation fence; otherwise the planner could walk an index of all the
  // merchant's requests.
  const named = tx`
    select * from (select * from requests where ${own} and id = any(array(
      select request_id from counted union all select ${transfer.candidate_request_id}::uuid)) offset 0) named
    where status = any(${states}::text[]) and proof_status = 'none'`;
  const columns = (of: Fragment) => tx`
    select r.id, r.fiat_int, r.fiat_code, r.usdc_micro, r.memo, r.customer_name,
      coalesce(r.made_at, r.created_at) as created_at, r.expires_at
    from (${of}) r
    where r.account_id = ${transfer.account_id} and r.wallet_address = ${transfer.to_address}
      and (r.wallet_chain_ids is null or ${transfer.chain_id}::bigint = any(r.wallet_chain_ids))
      ${leaves === 'nothing' ? tx`` : tx`and r.expires_at > ${leaves.restAt}`}`;
  return tx<AttachableRow[]>`
    with counted as materialized (
      select t.request_id, sum(t.value) as micro from transfers t
      where t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode} and t.counts
        and t.request_id = any(array(select request_id from underpaid_requests where ${own}))
      group by t.request_id
    ), looked as materialized (${columns(newest)} union ${columns(named)})
    select r.id, r.fiat_int, r.fiat_code, r.usdc_micro, coalesce(c.micro, 0)::text as counted_micro, r.memo,
      r.customer_name, r.created_at, r.expires_at
    from looked r left join counted c on c.request_id = r.id
    where r.created_at <= ${madeBefore}
      and r.usdc_micro - coalesce(c.micro, 0)
        ${leaves === 'nothing' ? tx`<=` : tx`>`} ${transfer.value}::numeric
    order by (r.id = ${transfer.candidate_request_id}::uuid) is true desc,
      abs(r.usdc_micro - coalesce(c.micro, 0) - ${transfer.value}::numeric), r.created_at desc limit ${limit}`;
}
