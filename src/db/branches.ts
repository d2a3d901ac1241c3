import type { Fragment, Tag } from './sql.ts';

/**
 * Combines several queries into one list. Each has an index in the list's order and stops by itself: a state without
 * rows costs nothing, and a state with many is read only as far as shown.
 *
 * @param place the clause that orders and limits the list: `order by … limit …`
 */
export function branchesOf(sql: Tag, branches: Fragment[], place: Fragment): Fragment {
  const list = branches.map((branch) => sql`(${branch} ${place})`);
  return sql`select * from (${list.reduce((all, branch) => sql`${all} union all ${branch}`)}) list ${place}`;
}
