import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { batchesOf, cursorAt, placeOf, type ReadFrom, readPage } from '../lib/paging.ts';
import { type BrowsedPlan, type PlanBrowseFilter, selectBrowsedPlan, selectBrowsedPlans } from './browse-store.ts';

export type { BrowsedPlan, PlanBrowseFilter } from './browse-store.ts';

type Db = Pick<Context, 'db'>;

const readFrom =
  ({ db }: Db, scope: Scope, filter: PlanBrowseFilter): ReadFrom<BrowsedPlan> =>
  (after, limit) =>
    db.read(scope, (sql) => selectBrowsedPlans(sql, scope, filter, { after: placeOf(after), limit }));

/** One page of a partner's plans in one mode, newest first, and the cursor of the next page; null at the end. */
export const browsePlans = (ctx: Db, scope: Scope, filter: PlanBrowseFilter, after: string | null) =>
  readPage(readFrom(ctx, scope, filter), cursorAt, after);

/** All plans of a filter, newest first, in batches. */
export const exportBrowsedPlans = (ctx: Db, scope: Scope, filter: PlanBrowseFilter) =>
  batchesOf(readFrom(ctx, scope, filter), cursorAt);

/**
 * A plan of any of a partner's merchants.
 *
 * @throws Refusal not_found, also for another partner's or one of the other mode
 */
export async function readBrowsedPlan({ db }: Db, scope: Scope, id: string): Promise<BrowsedPlan> {
  const row = isUuid(id) ? await db.scoped(scope, (tx) => selectBrowsedPlan(tx, scope, id)) : null;
  if (!row) throw refuse('not_found');
  return row;
}
