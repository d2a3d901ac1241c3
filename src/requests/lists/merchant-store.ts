import type { Scope, Tx } from '../../db/connection.ts';
import { seenStatus } from '../expiry.ts';
import { inStates, type States, statesOf } from '../in-states.ts';
import { isRefunded } from '../refunded.ts';
import type { RequestRow } from '../store.ts';
import { isOverpaid } from './display-status-store.ts';

/**
 * A request's display status for its merchant: one word from status and proof. `part`: some money arrived, but less
 * than requested.
 */
export type DisplayStatus = 'open' | 'part' | 'confirming' | 'paid' | 'expired' | 'voided';

/** A position in a list sorted by creation, newest first. */
export type RequestCursor = { createdAt: Date; id: string };

export type MerchantRequestFilter = {
  displayStatus: DisplayStatus | null;
  /** `created_at` at or after. */
  since: Date | null;
  /** `created_at` before. */
  until: Date | null;
  /** Only these; null for all. */
  ids: string[] | null;
  /** What comes after it in the list. */
  after: RequestCursor | null;
  limit: number;
};

/** A request of a merchant, with its payment where it is verified. */
export type MerchantRequestRow = RequestRow & {
  display_status: DisplayStatus;
  /** Micro units that count for it. */
  received_micro: string;
  /** More arrived than was due, and it was not refunded. */
  overpaid: boolean;
  /** Micro units that are probably meant for it, do not count, and were not refunded. */
  unmatched_micro: string;
  /** Of the transfer that completed the payment. */
  paid_chain_id: string | null;
  paid_block_time: Date | null;
};

const displayStatus = (tx: Tx) => tx`
  case when r.proof_status = 'verified' then 'paid' when r.proof_status = 'attached' then 'confirming'
    when r.status = 'voided' then 'voided'
    when exists (select from underpaid_requests u
      where (u.partner_id, u.test_mode, u.request_id) = (r.partner_id, r.test_mode, r.id)) then 'part'
    when ${seenStatus(tx)} = 'expired' then 'expired' else 'open' end`;

/** One page of a merchant's requests, newest first. */
export async function selectByMerchant(
  tx: Tx,
  scope: Scope,
  accountId: string,
  { displayStatus: wanted, since, until, ids, after, limit }: MerchantRequestFilter,
): Promise<MerchantRequestRow[]> {
  const where = tx`
    and r.account_id = ${accountId}
    ${
      wanted === 'part' // by themselves: the few are looked up, and not all requests gone through
        ? tx`and r.id in (select request_id from underpaid_requests
            where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode})`
        : tx``
    }
    ${since ? tx`and r.created_at >= ${since}` : tx``}
    ${until ? tx`and r.created_at < ${until}` : tx``}
    ${
      after // the time alone, too: the index can be used for it under row-level security
        ? tx`and r.created_at <= ${after.createdAt} and (r.created_at, r.id) < (${after.createdAt}, ${after.id})`
        : tx``
    }
    ${wanted ? tx`and ${displayStatus(tx)} = ${wanted}` : tx``}`;
  const place = tx`order by created_at desc, id desc limit ${limit}`;
  // What is named is read first, behind a fence: the list's order could lead through all others.
  const named = tx`select * from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = any(${ids ?? []}::uuid[]) offset 0`;
  const list = ids
    ? tx`select r.* from (${named}) r where true ${where} ${place}`
    : inStates(tx, scope, statesOfDisplayStatus(wanted), { where, place });
  return tx<MerchantRequestRow[]>`
    select r.*, ${displayStatus(tx)} as display_status, (
        select coalesce(sum(t.value), 0)::text from transfers t
        where (t.partner_id, t.test_mode, t.request_id) = (r.partner_id, r.test_mode, r.id) and t.counts) as received_micro,
      ${isOverpaid(tx)} as overpaid, (
        select coalesce(sum(t.value), 0)::text from transfers t
        where (t.partner_id, t.test_mode, t.candidate_request_id) = (r.partner_id, r.test_mode, r.id)
          and t.request_id is null and t.judged_at is not null
          and not ${isRefunded(tx)}
      ) as unmatched_micro,
      paid.chain_id as paid_chain_id, paid.block_time as paid_block_time
    from (${list}) r left join lateral (
      select t.chain_id, t.block_time from transfers t
      where t.partner_id = r.partner_id and t.test_mode = r.test_mode and t.request_id = r.id and t.counts
        and t.tx_hash = r.tx_hash
      order by t.ordinal limit 1) paid on r.proof_status = 'verified'
    order by r.created_at desc, r.id desc`;
}

/** The stored states that can have this display status; null for all. */
function statesOfDisplayStatus(displayStatus: DisplayStatus | null): States | null {
  if (displayStatus === 'paid') return statesOf(undefined, 'verified');
  if (displayStatus === 'confirming') return statesOf(undefined, 'attached');
  if (displayStatus === 'voided' || displayStatus === 'expired') return statesOf(displayStatus, 'none');
  if (displayStatus !== 'open') return null; // those paid in part are few, and looked up
  return {
    stored: [
      ['requested', 'none'],
      ['opened', 'none'],
    ],
    past: false,
    waiting: true,
  };
}

/** The payments of one day (UTC) in one currency. */
export type DaySum = { day: string; fiat_code: string; payments: number; fiat_int: string; usdc_micro: string };

/** Verified payments of a merchant between two instants, by day and currency; the amounts are those requested. */
export function selectDaySums(tx: Tx, scope: Scope, accountId: string, since: Date, until: Date): Promise<DaySum[]> {
  return tx<DaySum[]>`
    select to_char(proof_verified_at at time zone 'UTC', 'YYYY-MM-DD') as day, fiat_code, count(*)::int as payments,
      sum(fiat_int)::text as fiat_int, sum(usdc_micro)::text as usdc_micro
    from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and proof_status = 'verified' and proof_verified_at >= ${since} and proof_verified_at < ${until}
    group by 1, 2 order by 1, 2 limit 5000`;
}
