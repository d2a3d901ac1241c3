import type { Sql, Tx } from './connection.ts';
import type { Fragment } from './sql.ts';

/**
 * One list out of several queries that each have an index in the order of the list: each ends by itself, so a state that has
 * no rows costs nothing, and one that has many is left after what is shown.
 *
 * @param place what orders and ends it: `order by … limit …`
 */
export function branchesOf(sql: Sql | Tx, branches: Fragment[], place: Fragment): Fragment {
  const list = branches.map((branch) => sql`(${branch} ${place})`);
  return sql`select * from (${list.reduce((all, branch) => sql`${all} union all ${branch}`)}) list ${place}`;
}
