import type { Scope } from '../../db/connection.ts';
import { constant, type Fragment, identifiers, type Tag } from '../../db/sql.ts';
import { refundedStates } from '../refunded.ts';

/**
 * Money that does not count is shown if it is at least one cent, or the whole amount of a smaller request. Anybody can
 * send any number of smaller transfers that name a request, and each view of a list would read them all. They are
 * listed among the unmatched payments.
 */
const minStrayMicro = 10_000;

/**
 * What is known of the payments of a page of requests, as queries that follow `with page as materialized (…)`. Each
 * query reads once for the whole page, because a query for each request would check the scope every time. There are few
 * queries, because the server takes longer to start one than to read what a page has.
 *
 * - `lacking`: the requests (`request_id`) of which only a part was paid
 * - `arrived`: the transfers that count for a request (`counts`; without proof, only those that are lacking have any),
 *   and those that were probably meant for it and do not count, without dust
 * - `received`: of a request to which any belong, the micro units that count, those of them that are final, and those
 *   of a surplus that were refunded; the micro units that do not count and were not refunded (`stray_micro`), and why
 *   the largest of these does not count (`stray_reason`)
 */
export function paymentsOfPage(sql: Tag, scope: Scope): Fragment {
  const own = sql`t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode}`;
  const shown = sql`t.chain_id, t.block_number, t.tx_hash, t.ordinal, t.token_address, t.value, t.block_time, t.final_at,
    t.reason`;
  return sql`
    lacking as materialized (
      select t.request_id from underpaid_requests t
      where ${own} and t.request_id = any(array(select id from page where proof_status = 'none'))
    ), arrived as materialized (
      select true as counts, t.request_id, ${shown} from transfers t
      where ${own} and t.counts and t.request_id = any(array(
        select id from page where proof_status <> 'none' union all select request_id from lacking))
      union all
      select false, t.candidate_request_id, ${shown} from transfers t join page r on r.id = t.candidate_request_id
      where ${own} and t.candidate_request_id = any(array(select id from page)) and t.request_id is null
        and t.judged_at is not null and not ((t.reason = 'wrong_token') is true)
        and t.value >= least(${constant(minStrayMicro)}, r.usdc_micro)
    ), refunded as materialized (
      select t.chain_id, t.tx_hash, t.ordinal, t.usdc_micro from returns t
      where ${own} and t.state = any(${refundedStates}::text[])
        and t.chain_id = any(array(select chain_id from arrived)) and t.tx_hash = any(array(select tx_hash from arrived))
    ), received as materialized (
      select a.request_id, sum(a.value) filter (where a.counts) as micro,
        sum(a.value) filter (where a.counts and a.final_at is not null) as final_micro,
        coalesce(sum(b.usdc_micro) filter (where a.counts), 0) as refunded_micro,
        sum(a.value) filter (where not a.counts and b.ordinal is null) as stray_micro,
        (array_agg(a.reason order by a.value desc, a.block_time desc)
          filter (where not a.counts and b.ordinal is null))[1] as stray_reason
      from arrived a left join refunded b using (chain_id, tx_hash, ordinal) group by a.request_id
    )`;
}

/** These columns of a page's requests, and those from which their payments and their display status are computed. */
export const columnsOf = (names: readonly string[]): Fragment =>
  identifiers(...new Set([...names, 'id', 'status', 'proof_status', 'expires_at', 'usdc_micro', 'created_at']));

/** Joins the queries of `paymentsOfPage` to the page's requests `r`. */
export const joinPayments = (sql: Tag): Fragment => sql`
  left join received on received.request_id = r.id
  left join lacking on lacking.request_id = r.id`;

/**
 * After a refund, a surplus is shown if it is at least one cent: anybody can have sent less beside a partial payment.
 */
const minAfterRefundMicro = 10_000;

/** How many final micro units more than due a joined request `r` received, without what was refunded; 0 if none. */
export const overpaidMicro = (sql: Tag): Fragment => {
  const over = sql`(received.final_micro - received.refunded_micro - r.usdc_micro)`;
  const least = sql`case when received.refunded_micro > 0 then ${constant(minAfterRefundMicro)} else 1 end`;
  return sql`(case when r.proof_status = 'verified' and ${over} >= ${least} then ${over} else 0 end)`;
};

/** True of a joined request `r` that was overpaid, and not all of that was refunded. */
export const isOverpaid = (sql: Tag): Fragment => sql`(${overpaidMicro(sql)} > 0)`;
