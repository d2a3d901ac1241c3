import type { Scope, Tx } from '../../db/connection.ts';
import type { Fragment } from '../../db/sql.ts';
import { seenStatus } from '../expiry.ts';
import { inStates } from '../in-states.ts';
import type { RequestRow } from '../store.ts';
import {
  hasPortalStatus,
  isOverpaid,
  meantFor,
  type PortalStatus,
  portalStatus,
  statesOfPortalStatus,
} from './display-status-store.ts';

/** What about a request wants a person's eye. */
export const concerns = ['underpaid', 'overpaid', 'late', 'voided', 'twice', 'replayed'] as const;
/**
 * `underpaid`: part of the amount arrived. `overpaid`: more than the amount arrived, and the excess was not refunded.
 * `late`, `voided`, `twice`: money probably meant for it arrived too late, after it was cancelled, or a second time,
 * and does not count. `replayed`: its create was repeated with different values.
 */
export type Concern = (typeof concerns)[number];

export type BrowseFilter = {
  /** As the list shows it. */
  displayStatus?: PortalStatus;
  /** One merchant, or any of several. */
  accountId?: string | string[];
  since?: Date;
  /** Not included. */
  until?: Date;
  concern?: Concern;
  /** What was typed into the search field. */
  search?: string;
};

/** A request as lists show it. */
export type BrowsedRow = RequestRow & {
  merchant_name: string | null;
  /** Micro units that count for it. */
  received_micro: string;
  display_status: PortalStatus;
};

const unmatchedReasons = { late: 'late', voided: 'voided', twice: 'already_paid' } as const;

/** Joined: if few match they are looked up, if many match the newest are found while reading the requests. */
function ofConcern(tx: Tx, scope: Scope, concern: Concern) {
  const inScope = tx`partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  const meant =
    concern === 'underpaid'
      ? tx`select request_id from underpaid_requests where ${inScope}`
      : concern === 'overpaid'
        ? tx`select request_id from overpaid_requests where ${inScope}`
        : concern === 'replayed'
          ? tx`select request_id from differing_replays where ${inScope}`
          : meantFor(tx, scope, unmatchedReasons[concern]);
  return tx`and r.id in (${meant}) ${concern === 'overpaid' ? tx`and ${isOverpaid(tx)}` : tx``}`;
}

/**
 * Which part of a list is read. `ids`: only these, or all. `before`: only those created earlier; `created_at` is unique
 * within a scope.
 */
export type Part = { ids: string[] | null; before: Date | null; limit: number };

/** Requests of a scope, newest first. */
export function selectBrowsedRequests(
  tx: Tx,
  scope: Scope,
  filter: Omit<BrowseFilter, 'search'>,
  part: Part,
): Promise<BrowsedRow[]> {
  return tx<BrowsedRow[]>`
    with page as (${pageOf(tx, scope, filter, part)})
    select r.*, ${seenStatus(tx)} as status,
      coalesce(m.business_name, m.display_name) as merchant_name,
      (select coalesce(sum(t.value), 0)::text from transfers t
        where (t.partner_id, t.test_mode, t.request_id) = (r.partner_id, r.test_mode, r.id) and t.counts) as received_micro,
      ${portalStatus(tx)} as display_status
    from page r join merchants m on (m.partner_id, m.test_mode, m.id) = (r.partner_id, r.test_mode, r.account_id)
    order by r.created_at desc`;
}

/** A part of such a list, as a query of its own. */
export function pageOf(
  tx: Tx,
  scope: Scope,
  filter: Omit<BrowseFilter, 'search'>,
  { ids, before, limit }: Part,
): Fragment {
  const { displayStatus, accountId, since, until, concern } = filter;
  const where = tx`
    ${since ? tx`and r.created_at >= ${since}` : tx``} ${until ? tx`and r.created_at < ${until}` : tx``}
    ${before ? tx`and r.created_at < ${before}` : tx``}
    ${concern ? ofConcern(tx, scope, concern) : tx``}
    ${displayStatus ? hasPortalStatus(tx, scope, displayStatus) : tx``}`;
  const states = statesOfPortalStatus(displayStatus);
  const place = tx`order by created_at desc limit ${limit}`;
  // What is named is read first, behind a fence: the list's order could lead through all others.
  const named = tx`select * from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = any(${ids ?? []}::uuid[]) offset 0`;
  const newest = (of: Fragment) =>
    ids
      ? tx`select r.* from (${named}) r where true ${where} ${of} ${place}`
      : inStates(tx, scope, states, { where: tx`${where} ${of}`, place });
  const [account, ...more] = [accountId ?? []].flat();
  return more.length > 0 // each by itself: the order of the index serves one merchant
    ? tx`select r.* from unnest(${[account, ...more] as string[]}::uuid[]) a (id)
        cross join lateral (${newest(tx`and r.account_id = a.id`)}) r ${place}`
    : newest(account ? tx`and r.account_id = ${account}` : tx``);
}
