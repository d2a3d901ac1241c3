import type { Database, Scope } from '../../db/connection.ts';
import { constant, type Fragment, identifiers, type Statement, type Tag } from '../../db/sql.ts';
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
import { columnsOf, isOverpaid, joinPayments, paymentsOfPage } from './page-payments-store.ts';
import { joinRefunds, type RefundColumns, refundColumns, refundsOfPage } from './page-refunds-store.ts';
import { joinTransfers, type TransferColumns, transferColumns, transfersOfPage } from './page-transfers-store.ts';
import { readUntilFull } from './read-until-full.ts';

/** Why a request needs a person's attention. */
export const concerns = ['underpaid', 'overpaid', 'late', 'voided', 'twice', 'replayed'] as const;
/**
 * `underpaid`: part of the amount arrived. `overpaid`: more than the amount arrived, and the excess was not refunded.
 * `late`, `voided`, `twice`: money probably meant for it arrived too late, after it was cancelled, or a second time,
 * and does not count. `replayed`: its create was repeated with different values.
 */
export type Concern = (typeof concerns)[number];

export type BrowseFilter = {
  /** The status that the list shows. */
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

/** What a page shows of a request: each further column takes its time for each row. */
const pageNames = [
  ...(['id', 'account_id', 'created_at', 'made_at', 'fiat_int', 'fiat_code', 'usdc_micro', 'memo'] as const),
];

/** The columns of a request that exports show. There are as many others, which are slow to read. */
const exportedNames = [
  ...(['id', 'account_id', 'idempotency_key', 'created_at', 'made_at', 'expires_at', 'proof_status'] as const),
  ...(['proof_verified_at', 'fiat_int', 'fiat_code', 'usdc_micro', 'rate', 'rate_source', 'memo'] as const),
  ...(['payment_mode', 'customer_name', 'customer_email', 'customer_phone', 'metadata'] as const),
  ...(['wallet_address', 'tx_hash', 'payer_address'] as const),
] as const;

/** A request as pages list it. */
export type BrowsedRow = Pick<RequestRow, (typeof pageNames)[number]> & {
  merchant_name: string | null;
  /** Micro units that count for it. */
  received_micro: string;
  /** More arrived than was due, and it was not refunded. */
  overpaid: boolean;
  display_status: PortalStatus;
};

/** As `BrowsedRow`, with all that an export shows. */
export type ExportedRow = BrowsedRow &
  Pick<RequestRow, (typeof exportedNames)[number] | 'status'> &
  RefundColumns &
  TransferColumns;

/** The columns of rows. `whole`: with the status, the refunds and the transfers. */
type Columns<Row extends BrowsedRow> = { names: readonly (keyof Row & string)[]; whole: boolean };
export const onPage: Columns<BrowsedRow> = { names: pageNames, whole: false };
export const exported: Columns<ExportedRow> = { names: exportedNames, whole: true };

const unmatchedReasons = { late: 'late', voided: 'voided', twice: 'already_paid' } as const;

/** Joined: if few match they are looked up, if many match the newest are found while reading the requests. */
function ofConcern(sql: Tag, scope: Scope, concern: Concern): Fragment {
  return sql`and r.id in (${idsOfConcern(sql, scope, concern)})`;
}

function idsOfConcern(sql: Tag, scope: Scope, concern: Concern): Fragment {
  if (concern === 'underpaid') return underpaidIds(sql, scope);
  if (concern === 'overpaid') return overpaidIds(sql, scope);
  if (concern !== 'replayed') return meantFor(sql, scope, unmatchedReasons[concern]);
  const { partnerId, testMode } = scope;
  return sql`select request_id from differing_replays where partner_id = ${partnerId} and test_mode = ${testMode}`;
}

/**
 * Which part of a list is read. `ids`: only these, or all. `before`: only those created earlier; `created_at` is unique
 * within a scope.
 */
export type Part = { ids: string[] | null; before: Date | null; limit: number };

/** Requests of a scope, newest first. */
export function selectBrowsedRequests<Row extends BrowsedRow>(
  db: Database,
  scope: Scope,
  filter: Omit<BrowseFilter, 'search'>,
  part: Part,
  columns: Columns<Row>,
): Promise<Row[]> {
  const { displayStatus, concern } = filter;
  return readUntilFull(
    part.limit,
    (last: Row | undefined, limit) => {
      const from = { ...part, before: last?.created_at ?? part.before, limit };
      return db.read(scope, (sql) => selectPage(sql, scope, filter, from, columns));
    },
    (row) => (!displayStatus || row.display_status === displayStatus) && (concern !== 'overpaid' || row.overpaid),
  );
}

/** Requests that can match the filter, by their stored state; `display_status` says what they are. */
function selectPage<Row extends BrowsedRow>(
  sql: Tag,
  scope: Scope,
  filter: Omit<BrowseFilter, 'search'>,
  part: Part,
  { names, whole }: Columns<Row>,
): Statement<Row[]> {
  const more = sql`, ${refundsOfPage(sql, scope)}, ${transfersOfPage(sql)}`;
  const all = sql`${seenStatus(sql)} as status, ${refundColumns(sql)}, ${transferColumns(sql)},`;
  return sql<Row[]>`
    with page as materialized (${pageOf(sql, scope, filter, part, columnsOf(names))}),
      ${paymentsOfPage(sql, scope)}, ${namesOfPage(sql, scope)} ${whole ? more : sql``}
    select ${identifiers(...names)}, ${whole ? all : sql``} merchant_name,
      coalesce(received.micro, 0)::text as received_micro, ${isOverpaid(sql)} as overpaid,
      ${portalStatus(sql)} as display_status
    from page r join shops on shops.shop_id = r.account_id ${joinPayments(sql)}
      ${whole ? sql`${joinRefunds(sql)} ${joinTransfers(sql)}` : sql``}
    order by r.created_at desc`;
}

/** The query for one part of such a list, with these columns of a request `r`; all unless said. */
export function pageOf(
  sql: Tag,
  scope: Scope,
  filter: Omit<BrowseFilter, 'search'>,
  { ids, before, limit }: Part,
  columns: Fragment = sql`r.*`,
): Fragment {
  const { displayStatus, accountId, since, until, concern } = filter;
  const where = sql`
    ${since ? sql`and r.created_at >= ${since}` : sql``} ${until ? sql`and r.created_at < ${until}` : sql``}
    ${before ? sql`and r.created_at < ${before}` : sql``}
    ${concern ? ofConcern(sql, scope, concern) : sql``}
    ${displayStatus ? canHavePortalStatus(sql, scope, displayStatus) : sql``}`;
  const states = statesOfPortalStatus(displayStatus);
  const place = sql`order by created_at desc limit ${constant(limit)}`;
  // Named requests are read first, behind an optimisation fence; otherwise the planner could walk the whole list in
  // order.
  const named = sql`select * from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = any(${ids ?? []}::uuid[]) offset 0`;
  const newest = (of: Fragment) =>
    ids
      ? sql`select ${columns} from (${named}) r where true ${where} ${of} ${place}`
      : inStates(sql, scope, states, { where: sql`${where} ${of}`, place, columns });
  const [account, ...more] = [accountId ?? []].flat();
  return more.length > 0 // each by itself: the order of the index serves one merchant
    ? sql`select r.* from unnest(${[account, ...more] as string[]}::uuid[]) a (id)
        cross join lateral (${newest(sql`and r.account_id = a.id`)}) r ${place}`
    : newest(account ? sql`and r.account_id = ${account}` : sql``);
}
