import type { Scope, Tx } from '../../db/connection.ts';
import { constant, type Fragment, identifiers } from '../../db/sql.ts';
import { namesOfPage } from '../../merchants/names.ts';
import { seenStatus } from '../expiry.ts';
import { inStates } from '../in-states.ts';
import type { RequestRow } from '../store.ts';
import {
  canHavePortalStatus,
  meantFor,
  overpaidIds,
  type PortalStatus,
  portalStatus,
  statesOfPortalStatus,
  underpaidIds,
} from './display-status-store.ts';
import { isOverpaid, joinPayments, paymentsOfPage } from './page-payments-store.ts';
import { listedNames, readUntilFull } from './shown.ts';

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
export type BrowsedRow = Pick<RequestRow, (typeof listedNames)[number] | 'status'> & {
  merchant_name: string | null;
  /** Micro units that count for it. */
  received_micro: string;
  /** More arrived than was due, and it was not refunded. */
  overpaid: boolean;
  display_status: PortalStatus;
};

const unmatchedReasons = { late: 'late', voided: 'voided', twice: 'already_paid' } as const;

/** Joined: if few match they are looked up, if many match the newest are found while reading the requests. */
function ofConcern(tx: Tx, scope: Scope, concern: Concern): Fragment {
  return tx`and r.id in (${idsOfConcern(tx, scope, concern)})`;
}

function idsOfConcern(tx: Tx, scope: Scope, concern: Concern): Fragment {
  if (concern === 'underpaid') return underpaidIds(tx, scope);
  if (concern === 'overpaid') return overpaidIds(tx, scope);
  if (concern !== 'replayed') return meantFor(tx, scope, unmatchedReasons[concern]);
  const { partnerId, testMode } = scope;
  return tx`select request_id from differing_replays where partner_id = ${partnerId} and test_mode = ${testMode}`;
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
  const { displayStatus, concern } = filter;
  return readUntilFull(
    part.limit,
    (last, limit) => selectPage(tx, scope, filter, { ...part, before: last?.created_at ?? part.before, limit }),
    (row) => (!displayStatus || row.display_status === displayStatus) && (concern !== 'overpaid' || row.overpaid),
  );
}

/** Requests that can be of the filter, by what is stored of them; `display_status` says what they are. */
function selectPage(tx: Tx, scope: Scope, filter: Omit<BrowseFilter, 'search'>, part: Part): Promise<BrowsedRow[]> {
  return tx<BrowsedRow[]>`
    with page as materialized (${pageOf(tx, scope, filter, part)}), ${paymentsOfPage(tx, scope)},
      ${namesOfPage(tx, scope)}
    select ${identifiers(...listedNames)}, ${seenStatus(tx)} as status, merchant_name,
      coalesce(received.micro, 0)::text as received_micro, ${isOverpaid(tx)} as overpaid,
      ${portalStatus(tx)} as display_status
    from page r join shops on shops.shop_id = r.account_id ${joinPayments(tx)}
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
    ${displayStatus ? canHavePortalStatus(tx, scope, displayStatus) : tx``}`;
  const states = statesOfPortalStatus(displayStatus);
  const place = tx`order by created_at desc limit ${constant(limit)}`;
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
