import type { Tx } from './connection.ts';
import type { Fragment, Statement } from './sql.ts';

/** How many rows of a list are sampled to estimate how common a text is. */
const sampled = 1_000;

/**
 * Chooses, for the rest of the transaction, how a list is searched for a part of a text. If the text is common, or the
 * list has few rows left, it is read in its order until a page is full. Otherwise the trigram index finds all rows that
 * match. The planner cannot choose by itself, because row-level security hides the statistics from it.
 *
 * @param list the list from which rows are sampled, as `<table> where … order by …`
 * @param matches the condition that a row contains the text
 * @param limit the number of rows of a page
 */
export const chooseSearchPlan = (tx: Tx, list: Fragment, matches: Fragment, limit: number): Statement<unknown> => tx`
  select set_config('enable_bitmapscan', case when few or common then 'off' else 'on' end, true),
    set_config('enable_seqscan', case when common then 'off' else 'on' end, true),
    set_config('enable_sort', case when common then 'off' else 'on' end, true)
  from (
    select count(*) < ${sampled} as few, count(*) = ${sampled} and count(*) filter (where matched) >= ${limit} as common
    from (select ${matches} as matched from ${list} limit ${sampled}) sample) found`;
