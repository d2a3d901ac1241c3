import type { Database, Scope } from '../../db/connection.ts';
import { constant, type Fragment, identifiers, type Statement, type Tag } from '../../db/sql.ts';
import { seenStatus } from '../expiry.ts';
import { inStates, type States, statesOf } from '../in-states.ts';
import type { RequestRow } from '../store.ts';
import { isAmong, underpaidIds } from './display-status-store.ts';
import { columnsOf, joinPayments, overpaidMicro, paymentsOfPage } from './page-payments-store.ts';
import { joinRefunds, type RefundColumns, refundColumns, refundsOfPage } from './page-refunds-store.ts';
import { joinTransfers, type TransferColumns, transferColumns, transfersOfPage } from './page-transfers-store.ts';
import { readUntilFull } from './read-until-full.ts';

/**
 * A request's display status for its merchant: one word from status and proof. `part`: some money arrived, but less
 * than requested.
 */
export type DisplayStatus = 'open' | 'part' | 'confirming' | 'paid' | 'expired' | 'voided';

export type MerchantRequestFilter = {
  displayStatus: DisplayStatus | null;
  /** `created_at` at or after. */
  since: Date | null;
  /** `created_at` before. */
  until: Date | null;
  /** Only these; null for all. */
  ids: string[] | null;
  /** Only those created earlier; `created_at` is unique within a scope. */
  before: Date | null;
  limit: number;
};

/** The columns that a page shows, besides what is computed: each further one costs time for each row. */
const pageNames = [
  ...(['id', 'created_at', 'made_at', 'proof_verified_at', 'fiat_int', 'fiat_code', 'usdc_micro'] as const),
  ...(['memo', 'customer_name'] as const),
] as const;
const exportedNames = [...pageNames, ...(['rate', 'rate_source', 'tx_hash', 'payer_address'] as const)] as const;

/** A request of a merchant as pages list it. */
export type MerchantRequestRow = Pick<RequestRow, (typeof pageNames)[number]> & {
  display_status: DisplayStatus;
  /** Micro units that count for it. */
  received_micro: string;
  /** Micro units that arrived beyond what was due, and were not refunded. */
  overpaid_micro: string;
  /** Micro units that are probably meant for it, do not count, and were not refunded. */
  unmatched_micro: string;
};

/** As `MerchantRequestRow`, with all that an export shows: also the payment if it is verified, and the refunds. */
export type ExportedByMerchant = MerchantRequestRow &
  Pick<RequestRow, (typeof exportedNames)[number]> &
  RefundColumns &
  TransferColumns & {
    /** The chain of the transfer that completed the payment. */
    paid_chain_id: string | null;
    paid_block_time: Date | null;
  };

/** The columns of rows. `payment`: with the transfer that completed it, and the refunds. */
type Columns<Row extends MerchantRequestRow> = { names: readonly (keyof Row & string)[]; payment: boolean };
export const onPage: Columns<MerchantRequestRow> = { names: pageNames, payment: false };
export const exported: Columns<ExportedByMerchant> = { names: exportedNames, payment: true };

const displayStatus = (sql: Tag) => sql`
  case when r.proof_status = 'verified' then 'paid' when r.proof_status = 'attached' then 'confirming'
    when r.status = 'voided' then 'voided' when lacking.request_id is not null then 'part'
    when ${seenStatus(sql)} = 'expired' then 'expired' else 'open' end`;

/** One page of a merchant's requests, newest first. */
export function selectByMerchant<Row extends MerchantRequestRow>(
  db: Database,
  scope: Scope,
  accountId: string,
  filter: MerchantRequestFilter,
  columns: Columns<Row>,
): Promise<Row[]> {
  const { displayStatus: wanted, before } = filter;
  return readUntilFull(
    filter.limit,
    (last: Row | undefined, limit) => {
      const part = { ...filter, before: last?.created_at ?? before, limit };
      return db.read(scope, (sql) => selectPage(sql, scope, accountId, part, columns));
    },
    (row) => wanted === null || row.display_status === wanted,
  );
}

/** Requests that can match the filter, by their stored state; `display_status` says what they are. */
function selectPage<Row extends MerchantRequestRow>(
  sql: Tag,
  scope: Scope,
  accountId: string,
  filter: MerchantRequestFilter,
  { names, payment }: Columns<Row>,
): Statement<Row[]> {
  const more = sql`, ${refundsOfPage(sql, scope)}, ${transfersOfPage(sql)}, completing as materialized (
    select distinct on (r.id) r.id as request_id, p.chain_id, p.block_time
    from page r join arrived p on p.request_id = r.id and p.tx_hash = r.tx_hash and p.counts
    where r.proof_status = 'verified' order by r.id, p.ordinal)`;
  const paid = sql`, completing.chain_id as paid_chain_id, completing.block_time as paid_block_time,
    ${refundColumns(sql)}, ${transferColumns(sql)}`;
  return sql<Row[]>`
    with page as materialized (${pageOf(sql, scope, accountId, filter, columnsOf(names))}),
      ${paymentsOfPage(sql, scope)} ${payment ? more : sql``}
    select ${identifiers(...names)}, ${displayStatus(sql)} as display_status,
      coalesce(received.micro, 0)::text as received_micro, ${overpaidMicro(sql)}::text as overpaid_micro,
      coalesce(received.stray_micro, 0)::text as unmatched_micro ${payment ? paid : sql``}
    from page r ${joinPayments(sql)}
      ${payment ? sql`left join completing on completing.request_id = r.id ${joinRefunds(sql)} ${joinTransfers(sql)}` : sql``}
    order by r.created_at desc`;
}

function pageOf(
  sql: Tag,
  scope: Scope,
  accountId: string,
  { displayStatus: wanted, since, until, ids, before, limit }: MerchantRequestFilter,
  columns: Fragment,
): Fragment {
  const where = sql`
    and r.account_id = ${accountId}
    ${wanted === 'part' ? isAmong(sql, underpaidIds(sql, scope)) : sql``}
    ${since ? sql`and r.created_at >= ${since}` : sql``}
    ${until ? sql`and r.created_at < ${until}` : sql``} ${before ? sql`and r.created_at < ${before}` : sql``}`;
  const place = sql`order by created_at desc limit ${constant(limit)}`;
  if (!ids) return inStates(sql, scope, statesOfDisplayStatus(wanted), { where, place, columns });
  // Named requests are read first, behind an optimisation fence; otherwise the planner could walk the whole list in
  // order.
  const named = sql`select * from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = any(${ids}::uuid[]) offset 0`;
  return sql`select ${columns} from (${named}) r where true ${where} ${place}`;
}

/** The stored states that can have this display status; null for all. */
function statesOfDisplayStatus(displayStatus: DisplayStatus | null): States | null {
  if (displayStatus === 'paid') return statesOf(undefined, 'verified');
  if (displayStatus === 'confirming') return statesOf(undefined, 'attached');
  if (displayStatus === 'voided' || displayStatus === 'expired') return statesOf(displayStatus, 'none');
  if (displayStatus !== 'open') return null; // partly paid requests are few, so they are looked up
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
export function selectDaySums(
  sql: Tag,
  scope: Scope,
  accountId: string,
  since: Date,
  until: Date,
): Statement<DaySum[]> {
  return sql<DaySum[]>`
    select to_char(proof_verified_at at time zone 'UTC', 'YYYY-MM-DD') as day, fiat_code, count(*)::int as payments,
      sum(fiat_int)::text as fiat_int, sum(usdc_micro)::text as usdc_micro
    from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and proof_status = 'verified' and proof_verified_at >= ${since} and proof_verified_at < ${until}
    group by 1, 2 order by 1, 2 limit 5000`;
}

/** The database keeps times to the microsecond, and some have them. A place knows milliseconds only. */
const exactPlace = (sql: Tag, scope: Scope, id: string) => sql`
  (select last.proof_verified_at, last.id from requests last
    where last.partner_id = ${scope.partnerId} and last.test_mode = ${scope.testMode} and last.id = ${id})`;

/** The ids of a merchant's requests that were verified between two instants, in that order, after a place in it. */
export function selectPaidIds(
  sql: Tag,
  scope: Scope,
  accountId: string,
  { since, until, after, limit }: { since: Date; until: Date; after: { at: Date; id: string } | null; limit: number },
): Statement<{ id: string }[]> {
  return sql<{ id: string }[]>`
    select id from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and proof_status = 'verified' and proof_verified_at >= ${after?.at ?? since} and proof_verified_at < ${until}
      ${after ? sql`and (proof_verified_at, id) > ${exactPlace(sql, scope, after.id)}` : sql``}
    order by proof_verified_at, id limit ${constant(limit)}`;
}
