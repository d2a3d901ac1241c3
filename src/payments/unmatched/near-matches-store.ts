import type { Scope, Tx } from '../../db/connection.ts';
import type { Fragment } from '../../db/sql.ts';
import { dayMs, producerSkewMs } from '../../lib/durations.ts';
import { graceMs, type Reason } from '../rules.ts';
import type { TransferRow } from '../transfers.ts';

/** Payments that name no request. One that names a request is shown on the page of that request. */
const namesNone: Reason[] = ['no_match', 'ambiguous', 'before_request'];
const maxMeanwhile = 50;
/** The longest expiry and the grace after it, with a day to spare for clocks. */
const maxOpenMs = 32 * dayMs;

/** A transfer, and the amount that a request asked for at that time. */
type MeanwhileRow = TransferRow & { asked_micro: string };

/** The block times at which a request `r` takes money: from its creation until the grace after its expiry. */
const openFrom = (tx: Tx) => tx`
  date_trunc('second', coalesce(r.made_at, r.created_at)) - ${producerSkewMs} * interval '1 ms'`;
const openUntil = (tx: Tx) => tx`r.expires_at + ${graceMs} * interval '1 ms'`;

/** The transfers that count for a request `r`. */
const countedOf = (tx: Tx) => tx`
  (select coalesce(sum(c.value), 0) from transfers c
    where (c.partner_id, c.test_mode, c.request_id) = (r.partner_id, r.test_mode, r.id) and c.counts)`;

/**
 * Unmatched, unrefunded transfers to an unpaid request's wallet while it was open, newest first: those of half to twice
 * the amount asked for, so that dust cannot crowd them out. That amount is computed once, not per transfer.
 *
 * @param examined how many unmatched transfers to its merchant of that time are looked at. Anybody can send any number,
 * and every view of a page asks
 */
export function selectUnmatchedMeanwhile(
  tx: Tx,
  scope: Scope,
  requestId: string,
  examined: number,
): Promise<MeanwhileRow[]> {
  return tx<MeanwhileRow[]>`
    with asking as materialized (
      select r.account_id, r.wallet_address, r.wallet_chain_ids, ${openFrom(tx)} as open_from, ${openUntil(tx)} as open_until,
        r.usdc_micro - ${countedOf(tx)} as asked_micro
      from requests r
      where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${requestId}
        and r.proof_status = 'none'
    ), meanwhile as materialized (
      select t.* from asking r
        join transfers t on t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode}
          and t.account_id = r.account_id
          and t.block_time between r.open_from and r.open_until -- plain columns: row-level security allows the index
      where t.request_id is null
      limit ${examined} -- in no order: sorting would read them all
    ), of_size as materialized (
      select t.*, r.asked_micro::text
      from asking r join meanwhile t on t.to_address = r.wallet_address
        and t.value between r.asked_micro / 2 and r.asked_micro * 2
        and (r.wallet_chain_ids is null or t.chain_id = any(r.wallet_chain_ids))
      where t.judged_at is not null and t.candidate_request_id is null
        and coalesce(t.reason, 'no_match') = any(${namesNone}::text[])
      order by t.block_time desc, t.chain_id, t.tx_hash, t.ordinal limit ${4 * maxMeanwhile}
    )
    select t.* from of_size t
    where not exists (select from returns b
        where (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
          = (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal) and b.state <> 'kept')
    order by t.block_time desc, t.chain_id, t.tx_hash, t.ordinal limit ${maxMeanwhile}`;
}

/** A payment, and which amounts a request may have asked for when it arrived. */
export type Arrived = { blockTime: Date; fromMicro: bigint; toMicro: bigint };

/**
 * For each of these payments to the wallet of a request: how many other requests to it were open when it was mined and
 * asked for such an amount, in full or as the rest; up to `max`. This includes cancelled requests, but not those paid
 * before. A wallet can have any number of requests and every view of a page asks, so all payments are compared with the
 * same requests, and those are limited.
 *
 * @param arrived at least one
 * @param examined how many requests of that time are looked at
 * @returns null if there are more
 */
export async function countOtherRequests(
  tx: Tx,
  scope: Scope,
  { walletAddress, requestId }: { walletAddress: string; requestId: string },
  arrived: readonly Arrived[],
  { max, examined }: { max: number; examined: number },
): Promise<number[] | null> {
  const paid = arrived.map(({ blockTime, fromMicro, toMicro }, place) => ({
    ...{ place, at: blockTime, from_micro: fromMicro.toString(), to_micro: toMicro.toString() },
  }));
  const times = arrived.map(({ blockTime }) => blockTime.getTime());
  const since = new Date(Math.min(...times) - maxOpenMs);
  const until = new Date(Math.max(...times) + dayMs);
  const isAsked = (micro: Fragment) => tx`${micro} between p.from_micro and p.to_micro`;
  const counts = await tx<{ count: number; is_cut: boolean }[]>`
    with paid as materialized (
      select * from json_to_recordset(${JSON.stringify(paid)}::json)
        as p (place int, at timestamptz, from_micro numeric, to_micro numeric)
    ), examined as materialized (
      select r.id, r.usdc_micro, r.proof_status, ${openFrom(tx)} as open_from, ${openUntil(tx)} as open_until
      from requests r
      where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode}
        and r.wallet_address = ${walletAddress} and r.id <> ${requestId}
        and r.created_at between ${since} and ${until} -- as values: computed in SQL, PostgreSQL 15 may not use the index
      limit ${examined + 1} -- in no order: sorting would read them all
    ), open as materialized (
      select p.place, p.from_micro, p.to_micro, p.at, r.id, r.usdc_micro, r.proof_status
      from paid p join examined r on p.at between r.open_from and r.open_until
    ), parts as materialized (
      select c.request_id as id, sum(c.value) as micro from transfers c
      where c.partner_id = ${scope.partnerId} and c.test_mode = ${scope.testMode} and c.counts and c.request_id = any(array(
        select distinct o.id from open o where o.proof_status = 'none' and o.usdc_micro >= o.from_micro))
      group by c.request_id
    )
    select others.count, (select count(*) from examined) > ${examined} as is_cut
    from paid w cross join lateral (
      select count(*)::int as count from (
        select from open p left join parts s on s.id = p.id
        where p.place = w.place and (${isAsked(tx`p.usdc_micro`)} or ${isAsked(tx`(p.usdc_micro - s.micro)`)})
          and (p.proof_status = 'none' or exists (select from transfers c
            where c.partner_id = ${scope.partnerId} and c.test_mode = ${scope.testMode} and c.request_id = p.id
              and c.counts and c.block_time >= p.at))
        limit ${max}) found) others
    order by w.place`;
  return counts[0]?.is_cut ? null : counts.map(({ count }) => count);
}
