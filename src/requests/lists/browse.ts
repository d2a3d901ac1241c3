import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { batchesOf, type ReadFrom, readPage } from '../../lib/batches.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { instantOfMs } from '../../lib/time.ts';
import { type BrowsedRow, type BrowseFilter, selectBrowsedRequests, selectFound } from './browse-store.ts';
import { type PortalStatus, selectPortalStatus } from './display-status-store.ts';

export { type BrowsedRow, type BrowseFilter, type Concern, concerns } from './browse-store.ts';
export { type PortalStatus, portalStatuses } from './display-status-store.ts';

/** One page of requests, newest first, and the cursor of the next page; null at the end. */
export async function browseRequests(
  ctx: Context,
  scope: Scope,
  filter: BrowseFilter,
  after: string | null,
): Promise<{ rows: BrowsedRow[]; next: string | null }> {
  return readPage(readFrom(ctx, scope, filter, await foundIds(ctx, scope, filter)), cursorOf, after);
}

/** All requests of a filter, newest first, in batches. */
export async function* exportRequests(ctx: Context, scope: Scope, filter: BrowseFilter): AsyncGenerator<BrowsedRow[]> {
  yield* batchesOf(readFrom(ctx, scope, filter, await foundIds(ctx, scope, filter)), cursorOf);
}

/**
 * Where one request stands, as the list shows it.
 *
 * @throws Refusal not_found
 */
export async function readPortalStatus(ctx: Context, scope: Scope, requestId: string): Promise<PortalStatus> {
  const status = isUuid(requestId) && (await ctx.db.scoped(scope, (tx) => selectPortalStatus(tx, scope, requestId)));
  if (!status) throw refuse('not_found');
  return status;
}

const readFrom =
  (ctx: Context, scope: Scope, filter: BrowseFilter, ids: string[] | null): ReadFrom<BrowsedRow> =>
  (after, limit) => {
    const before = after === null ? null : instantOfMs(after);
    return ctx.db.scoped(scope, (tx) => selectBrowsedRequests(tx, scope, filter, { ids, before, limit }));
  };
/** `created_at` is unique within a scope. */
const cursorOf = (row: BrowsedRow) => String(row.created_at.getTime());

async function foundIds(ctx: Context, scope: Scope, { search }: BrowseFilter): Promise<string[] | null> {
  if (!search) return null;
  const chainIds = ctx.chains[modeOf(scope.testMode)].map(({ chainId }) => chainId);
  return ctx.db.scoped(scope, (tx) => selectFound(tx, scope, search, chainIds));
}
