import type { Scope } from '../../db/connection.ts';
import type { Fragment, Tag } from '../../db/sql.ts';
import { refundedStates } from '../refunded.ts';

/**
 * What is known of the payments of a page of requests, as queries that follow `with page as materialized (…)`. Each
 * reads once for the whole page: a query for each request would check the scope anew every time.
 *
 * - `lacking`: the requests (`request_id`) of which only a part was paid
 * - `paid`: the transfers that count for a request; without proof, only those that are lacking have any
 * - `strays`: those that were probably meant for it (`request_id`) and do not count
 * - `received`: of a request that got any, the micro units that count, and whether some of them were refunded
 * - `stray`: of a request with strays, the micro units that were not refunded, and why the largest of these does not count
 */
export function paymentsOfPage(sql: Tag, scope: Scope): Fragment {
  const own = sql`t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode}`;
  return sql`
    lacking as materialized (
      select t.request_id from underpaid_requests t
      where ${own} and t.request_id = any(array(select id from page where proof_status = 'none'))
    ), paid as materialized (
      select t.request_id, t.chain_id, t.tx_hash, t.ordinal, t.value, t.block_time from transfers t
      where ${own} and t.counts and t.request_id = any(array(
        select id from page where proof_status <> 'none' union all select request_id from lacking))
    ), strays as materialized (
      select t.candidate_request_id as request_id, t.chain_id, t.tx_hash, t.ordinal, t.value, t.block_time, t.reason
      from transfers t
      where ${own} and t.candidate_request_id = any(array(select id from page)) and t.request_id is null
        and t.judged_at is not null
    ), refunded as materialized (
      select t.chain_id, t.tx_hash, t.ordinal from returns t
      where ${own} and t.state = any(${refundedStates}::text[])
        and t.chain_id = any(array(select chain_id from paid union select chain_id from strays))
        and t.tx_hash = any(array(select tx_hash from paid union select tx_hash from strays))
    ), received as materialized (
      select p.request_id, sum(p.value) as micro, bool_or(b.ordinal is not null) as refunded
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

/** True of a joined request `r` that was overpaid, as long as nothing of it was refunded. */
export const isOverpaid = (sql: Tag): Fragment =>
  sql`(r.proof_status = 'verified' and r.usdc_micro < coalesce(received.micro, 0) and not received.refunded)`;
