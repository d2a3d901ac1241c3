import type { Scope, Tx } from '../../db/connection.ts';
import { seenStatus } from '../expiry.ts';
import { isOverpaid, joinPayments, paymentsOfPage } from './page-payments-store.ts';

/** The verified payments of one day (UTC) in one currency; `fiat_int` is a sum of minor units. */
export type DayVolume = { day: string; fiat_code: string; payments: number; fiat_int: string };

/** Verified payments by day and currency, both days included; answered by an index alone. */
export function selectVolume(tx: Tx, scope: Scope, fromDay: string, toDay: string): Promise<DayVolume[]> {
  return tx<DayVolume[]>`
    select to_char(proof_verified_at at time zone 'UTC', 'YYYY-MM-DD') as day, fiat_code, count(*)::int as payments,
      sum(fiat_int)::text as fiat_int
    from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and proof_status = 'verified'
      and proof_verified_at >= ${`${fromDay}T00:00:00Z`}::timestamptz
      and proof_verified_at < ${`${toDay}T00:00:00Z`}::timestamptz + interval '1 day'
    group by 1, 2 order by 1, 2`;
}

export type SampleRow = { requests: number; ended: number; paid: number; median_ms: number | null };

/** Among the newest requests since a time, at most `max`: how many have ended, how many were paid, and how fast. */
export async function selectSample(tx: Tx, scope: Scope, since: Date, max: number): Promise<SampleRow> {
  const [row] = await tx<SampleRow[]>`
    with newest as (
      select r.proof_status, ${seenStatus(tx)} as status, r.created_at, r.proof_verified_at from requests r
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and created_at >= ${since}
      order by created_at desc limit ${max}
    )
    select count(*)::int as requests,
      (count(*) filter (where proof_status = 'verified' or status in ('expired', 'voided')))::int as ended,
      (count(*) filter (where proof_status = 'verified'))::int as paid,
      (percentile_cont(0.5) within group (order by extract(epoch from proof_verified_at - created_at) * 1000)
        filter (where proof_status = 'verified'))::float as median_ms
    from newest`;
  if (!row) throw new Error('a count returned no row');
  return row;
}

/** `overpaid` is counted among the same number of the newest requests. */
export type ConcernCounts = { underpaid: number; overpaid: number; replayed: number };

/** Requests since a time that need attention, counted up to `max` each. */
export async function selectConcerns(tx: Tx, scope: Scope, since: Date, max: number): Promise<ConcernCounts> {
  const [row] = await tx<ConcernCounts[]>`
    with page as materialized (
      select * from (
        select * from requests
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and created_at >= ${since}
        order by created_at desc limit ${max}) newest
      where proof_status = 'verified'
    ), ${paymentsOfPage(tx, scope)}
    select
      (select count(*)::int from (
        select from underpaid_requests u
          join requests r on (r.partner_id, r.test_mode, r.id) = (u.partner_id, u.test_mode, u.request_id)
        where u.partner_id = ${scope.partnerId} and u.test_mode = ${scope.testMode} and r.created_at >= ${since}
        limit ${max}) found) as underpaid,
      (select count(*)::int from page r ${joinPayments(tx)} where ${isOverpaid(tx)}) as overpaid,
      (select count(*)::int from (
        select from differing_replays
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and last_at >= ${since}
        limit ${max}) found) as replayed`;
  if (!row) throw new Error('a count returned no row');
  return row;
}

/** The verified requests of a merchant in one currency; `fiat_int` is a sum of minor units. */
export type MerchantSum = { fiat_code: string; payments: number; fiat_int: string };

/** Verified requests of a merchant in a period, by currency; answered by an index alone. Null leaves an end open. */
export function selectMerchantSums(
  tx: Tx,
  scope: Scope,
  accountId: string,
  since: Date | null,
  until: Date | null,
): Promise<MerchantSum[]> {
  return tx<MerchantSum[]>`
    select fiat_code, count(*)::int as payments, sum(fiat_int)::text as fiat_int from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and proof_status = 'verified'
      ${since ? tx`and proof_verified_at >= ${since}` : tx``} ${until ? tx`and proof_verified_at < ${until}` : tx``}
    group by 1`;
}
