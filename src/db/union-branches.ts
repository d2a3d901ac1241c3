import type { Fragment, Tag } from './sql.ts';

/**
 * Combines several queries, such as one per state, into one list. Each query has an index in the list's order and the
 * list's limit, so it reads no more rows than a page shows.
 *
 * @param place the clause that orders and limits the list: `order by … limit …`
 */
export function unionBranches(sql: Tag, branches: Fragment[], place: Fragment): Fragment {
  const list = branches.map((branch) => sql`(${branch} ${place})`);
  return sql`select * from (${list.reduce((all, branch) => sql`${all} union all ${branch}`)}) list ${place}`;
}
