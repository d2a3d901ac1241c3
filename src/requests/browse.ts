import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { type BrowsedRow, type BrowseFilter, selectBrowsed, selectFound } from './browse-store.ts';

export { type BrowsedRow, type BrowseFilter, type Concern, concerns } from './browse-store.ts';

const pageSize = 50;
const batchSize = 500;
/** An export ends here: two million rows are more than a spreadsheet takes. */
const mostBatches = 4_000;

/** One page of requests, newest first, and the cursor it goes on after; null at the end. */
export async function browseRequests(
  ctx: Context,
  scope: Scope,
  filter: BrowseFilter,
  after: string | null,
): Promise<{ rows: BrowsedRow[]; next: string | null }> {
  const rows = await ctx.db.scoped(scope, async (tx) => {
    const ids = await foundIds(ctx, tx, scope, filter);
    return selectBrowsed(tx, scope, filter, { ids, before: readCursor(after), limit: pageSize + 1 });
  });
  const page = rows.slice(0, pageSize);
  const last = page.at(-1);
  return { rows: page, next: rows.length > pageSize && last ? String(last.created_at.getTime()) : null };
}

/** All requests of a filter, newest first, in batches of 500, each read in a transaction of its own. */
export async function* exportRequests(ctx: Context, scope: Scope, filter: BrowseFilter): AsyncGenerator<BrowsedRow[]> {
  const ids = await ctx.db.scoped(scope, (tx) => foundIds(ctx, tx, scope, filter));
  let before: Date | null = null;
  for (let batch = 0; batch < mostBatches; batch++) {
    const position: Parameters<typeof selectBrowsed>[3] = { ids, before, limit: batchSize };
    const rows: BrowsedRow[] = await ctx.db.scoped(scope, (tx) => selectBrowsed(tx, scope, filter, position));
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < batchSize) return;
    before = last.created_at;
  }
}

async function foundIds(ctx: Context, tx: Tx, scope: Scope, { search }: BrowseFilter): Promise<string[] | null> {
  if (!search) return null;
  const chainIds = ctx.chains[scope.testMode ? 'test' : 'live'].map(({ chainId }) => chainId);
  return selectFound(tx, scope, search, chainIds);
}

/** A cursor is the last `created_at` of a page in milliseconds; anything else begins at the newest. */
function readCursor(after: string | null): Date | null {
  return after !== null && /^\d{1,15}$/.test(after) ? new Date(Number(after)) : null;
}
