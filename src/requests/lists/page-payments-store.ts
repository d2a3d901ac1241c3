import type { Scope } from '../../db/connection.ts';
import { constant, type Fragment, type Tag } from '../../db/sql.ts';
import { refundedStates } from '../refunded.ts';

/**
 * What is known of the payments of a page of requests, as queries that follow `with page as materialized (…)`. Each
 * reads once for the whole page: a query for each request would check the scope anew every time.
 *
 * - `lacking`: the requests (`request_id`) of which only a part was paid
 * - `paid`: the transfers that count for a request; without proof, only those that are lacking have any
 * - `strays`: those that were probably meant for it (`request_id`) and do not count
 * - `received`: of a request that got any, the micro units that count, those of them that are final, and those of a
 *   surplus that were refunded
 * - `stray`: of a request with strays, the micro units that were not refunded, and why the largest of these does not count
 */
export function paymentsOfPage(sql: Tag, scope: Scope): Fragment {
  const own = sql`t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode}`;
  return sql`
    lacking as materialized (
      select t.request_id from underpaid_requests t
      where ${own} and t.request_id = any(array(select id from page where proof_status = 'none'))
    ), paid as materialized (
      select t.request_id, t.chain_id, t.tx_hash, t.ordinal, t.value, t.block_time, t.final_at
      from transfers t
      where ${own} and t.counts and t.request_id = any(array(
        select id from page where proof_status <> 'none' union all select request_id from lacking))
    ), strays as materialized (
      select t.candidate_request_id as request_id, t.chain_id, t.tx_hash, t.ordinal, t.value, t.block_time, t.reason
      from transfers t
      where ${own} and t.candidate_request_id = any(array(select id from page)) and t.request_id is null
        and t.judged_at is not null
    ), refunded as materialized (
      select t.chain_id, t.tx_hash, t.ordinal, t.usdc_micro from returns t
      where ${own} and t.state = any(${refundedStates}::text[])
        and t.chain_id = any(array(select chain_id from paid union select chain_id from strays))
        and t.tx_hash = any(array(select tx_hash from paid union select tx_hash from strays))
    ), received as materialized (
      select p.request_id, sum(p.value) as micro, sum(p.value) filter (where p.final_at is not null) as final_micro,
        coalesce(sum(b.usdc_micro), 0) as refunded_micro
      from paid p left join refunded b using (chain_id, tx_hash, ordinal) group by p.request_id
    ), stray as materialized (
      select s.request_id, sum(s.value) filter (where b.ordinal is null) as micro,
        (array_agg(s.reason order by s.value desc, s.block_time desc) filter (where b.ordinal is null))[1] as reason
      from strays s left join refunded b using (chain_id, tx_hash, ordinal) group by s.request_id
    )`;
}

/** Joins these to the page's requests `r`. */
export const joinPayments = (sql: Tag): Fragment => sql`
  left join received on received.request_id = r.id
  left join stray on stray.request_id = r.id
  left join lacking on lacking.request_id = r.id`;

/** What is over a joined request `r` after refunds is told from a cent on: anybody can have sent less with a part. */
const minAfterRefundMicro = 10_000;

/** By how many final micro units a joined request `r` was overpaid, without what was refunded; 0 if it was not. */
export const overpaidMicro = (sql: Tag): Fragment => {
  const over = sql`(received.final_micro - received.refunded_micro - r.usdc_micro)`;
  const least = sql`case when received.refunded_micro > 0 then ${constant(minAfterRefundMicro)} else 1 end`;
  return sql`(case when r.proof_status = 'verified' and ${over} >= ${least} then ${over} else 0 end)`;
};

/** True of a joined request `r` that was overpaid, and not all of that was refunded. */
export const isOverpaid = (sql: Tag): Fragment => sql`(${overpaidMicro(sql)} > 0)`;
