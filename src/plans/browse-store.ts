import type { Scope, Tx } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';
import type { Fragment, Statement, Tag } from '../db/sql.ts';
import { namesOfPage } from '../merchants/names.ts';
import { onListPage, type PlanFilter, type PlanRow, planColumns } from './store.ts';

/** A plan with its merchant's name. */
export type BrowsedPlan = PlanRow & { merchant_name: string | null };

export type PlanBrowseFilter = Pick<PlanFilter, 'displayStatus'> & {
  /** One merchant, or any of several. */
  accountId?: string | string[];
};

/** Plans of a partner in one mode, newest first. */
export function selectBrowsedPlans(
  sql: Tag,
  scope: Scope,
  { accountId, displayStatus }: PlanBrowseFilter,
  { after, limit }: Pick<PlanFilter, 'after' | 'limit'>,
): Statement<BrowsedPlan[]> {
  const place = sql`order by created_at desc, id desc limit ${limit}`;
  const newest = (of: Fragment) => sql`
    select p.* from plans p
    where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode} ${of}
      ${onListPage(sql, displayStatus, after)}
    ${place}`;
  const [account, ...more] = [accountId ?? []].flat();
  const page =
    more.length > 0 // each by itself: the order of the index serves one merchant
      ? sql`select p.* from unnest(${[account, ...more] as string[]}::uuid[]) a (id)
          cross join lateral (${newest(sql`and p.account_id = a.id`)}) p ${place}`
      : newest(account ? sql`and p.account_id = ${account}` : sql``);
  return sql<BrowsedPlan[]>`
    with page as materialized (${page}), ${namesOfPage(sql, scope)}
    select ${planColumns(sql)}, s.merchant_name
    from page p join shops s on s.shop_id = p.account_id
    order by p.created_at desc, p.id desc`;
}

/** One of them; null if the scope has no such plan. */
export async function selectBrowsedPlan(tx: Tx, scope: Scope, id: string): Promise<BrowsedPlan | null> {
  const [row] = await tx<BrowsedPlan[]>`
    select ${planColumns(tx)},
      ${shownName(tx)} as merchant_name
    from plans p join merchants m on (m.partner_id, m.test_mode, m.id) = (p.partner_id, p.test_mode, p.account_id)
    where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode} and p.id = ${id}`;
  return row ?? null;
}
