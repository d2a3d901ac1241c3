import type { Tx } from './connection.ts';
import type { Fragment, Statement } from './sql.ts';

/** So many of a list are looked at for how common a text is. */
const sampled = 1_000;

/**
 * Chooses, for the rest of the transaction, how a part of a text is looked for in a list: where it is common, or little
 * of the list is left, in the list's order until a page is full; otherwise by the index of words, which reads all that
 * match. Under row-level security the planner is kept from the figures that would tell it.
 *
 * @param list what is searched, as `<table> where … order by …`
 * @param matches true of a row that has the text
 * @param limit the rows of a page
 */
export const chooseSearchPlan = (tx: Tx, list: Fragment, matches: Fragment, limit: number): Statement<unknown> => tx`
  select set_config('enable_bitmapscan', case when few or common then 'off' else 'on' end, true),
    set_config('enable_seqscan', case when common then 'off' else 'on' end, true),
    set_config('enable_sort', case when common then 'off' else 'on' end, true)
  from (
    select count(*) < ${sampled} as few, count(*) = ${sampled} and count(*) filter (where matched) >= ${limit} as common
    from (select ${matches} as matched from ${list} limit ${sampled}) sample) found`;
