import type { Scope, Tx } from '../../db/connection.ts';
import type { Fragment, Statement, Tag } from '../../db/sql.ts';
import type { SearchText } from '../../lib/text/search-text.ts';
import { namesOfPage } from '../../merchants/names.ts';
import { isRefunded } from '../../requests/refunded.ts';
import type { Reason } from '../rules.ts';
import type { TransferRow } from '../transfers.ts';

/** An unmatched transfer with its merchant's name. */
export type UnmatchedRow = TransferRow & { merchant_name: string | null };

/** A place in the list: newest block time first, then by what names a transfer. */
export type UnmatchedCursor = { blockTime: Date; chainId: number; txHash: string; ordinal: number };

export type UnmatchedFilter = {
  /** One merchant, or any of several. */
  accountId?: string | string[];
  reason?: Reason;
  /**
   * What was typed: a transaction, a payer, or the request that the payments are probably meant for. Anything else
   * finds nothing.
   */
  search?: { words: SearchText; chainIds: number[] };
  /** Block time, inclusive. */
  since?: Date;
  /** Block time, exclusive. */
  until?: Date;
};

/** Unmatched transfers of a scope, newest first. */
export function selectUnmatchedAfter(
  sql: Tag,
  scope: Scope,
  filter: UnmatchedFilter,
  after: UnmatchedCursor | null,
  limit: number,
): Statement<UnmatchedRow[]> {
  const { accountId, reason, search, since, until } = filter;
  const named = search && selectNamed(sql, scope, { search, since, until });
  const newest = (of: Fragment) => sql`
    select t.* from ${named ? sql`(${named})` : sql`transfers`} t
    where t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode} and t.request_id is null
      and t.judged_at is not null ${of}
      ${reason ? sql`and (case when t.reason is null then 'no_match' else t.reason end) = ${reason}` : sql``}
      ${since ? sql`and t.block_time >= ${since}` : sql``}
      ${until ? sql`and t.block_time < ${until}` : sql``}
      ${
        after // the time alone, too: the index can be used for it under row-level security
          ? sql`and t.block_time <= ${after.blockTime} and (t.block_time, t.chain_id, t.tx_hash, t.ordinal)
              < (${after.blockTime}, ${after.chainId}, ${after.txHash}, ${after.ordinal})`
          : sql``
      } ${inOrder(sql)} limit ${limit}`;
  const [account, ...more] = [accountId ?? []].flat();
  const found =
    more.length > 0 // each by itself: the order of the index serves one merchant
      ? sql`select t.* from unnest(${[account, ...more] as string[]}::uuid[]) a (id)
          cross join lateral (${newest(sql`and t.account_id = a.id`)}) t ${inOrder(sql)} limit ${limit}`
      : newest(account ? sql`and t.account_id = ${account}` : sql``);
  return sql<UnmatchedRow[]>`
    with page as materialized (${found}), ${namesOfPage(sql, scope)}
    select t.*, s.merchant_name from page t join shops s on s.shop_id = t.account_id ${inOrder(sql)}`;
}

/** A search names at most this many transfers. */
export const maxNamed = 500;

type NamedFilter = Pick<UnmatchedFilter, 'since' | 'until'> & { search: NonNullable<UnmatchedFilter['search']> };

/**
 * Transfers that a search names, at most 500: of a payer the newest, otherwise the largest, because anybody can
 * surround them with tiny ones. The limit keeps the list from being read in its own order.
 */
function selectNamed(sql: Tag, scope: Scope, { search, since, until }: NamedFilter): Fragment {
  const { hash, address, id } = search.words;
  const own = sql`
    select * from transfers where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      ${since ? sql`and block_time >= ${since}` : sql``} ${until ? sql`and block_time < ${until}` : sql``}`;
  const largest = sql`order by (reason = 'wrong_token') is true, value desc limit ${maxNamed}`;
  if (hash) return sql`${own} and chain_id = any(${search.chainIds}::bigint[]) and tx_hash = ${hash} ${largest}`;
  if (address) return sql`${own} and from_address = ${address} order by block_time desc limit ${maxNamed}`;
  if (id) return sql`${own} and candidate_request_id = ${id} and request_id is null ${largest}`;
  return sql`${own} and false`;
}

/** How many transfers a search names, matched ones included. */
export async function countNamed(tx: Tx, scope: Scope, filter: NamedFilter): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (${selectNamed(tx, scope, filter)}) named`;
  return row?.count ?? 0;
}

const inOrder = (sql: Tag) => sql`order by t.block_time desc, t.chain_id desc, t.tx_hash desc, t.ordinal desc`;

export type UnmatchedSum = { reason: Reason; payments: number; usdc_micro: string };

/** Unmatched and unrefunded money since a time, by reason; of the newest `max` transfers. */
export function selectUnmatchedSums(tx: Tx, scope: Scope, since: Date, max: number): Promise<UnmatchedSum[]> {
  return tx<UnmatchedSum[]>`
    select coalesce(reason, 'no_match') as reason, count(*)::int as payments, sum(value)::text as usdc_micro
    from (
      select reason, value from transfers t
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id is null
        and judged_at is not null and block_time >= ${since} and not ${isRefunded(tx)}
      order by block_time desc limit ${max}) newest
    group by 1 order by 1`;
}
