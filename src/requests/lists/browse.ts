import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { batchesOf, type ReadFrom, readPage } from '../../lib/paging.ts';
import { instantOfMs } from '../../lib/time.ts';
import {
  type BrowsedRow,
  type BrowseFilter,
  type ExportedRow,
  exported,
  onPage,
  pageOf,
  selectBrowsedRequests,
} from './browse-store.ts';
import { type PortalStatus, selectPortalStatus } from './display-status-store.ts';
import { findRequests, type SearchLimit, type SearchResult } from './search.ts';

export { type BrowsedRow, type BrowseFilter, type Concern, concerns, type ExportedRow } from './browse-store.ts';
export { type PortalStatus, portalStatuses } from './display-status-store.ts';
export type { SearchLimit } from './search.ts';

/** One page of requests, newest first, and the cursor of the next page; null at the end. */
export async function browseRequests(
  ctx: Context,
  scope: Scope,
  filter: BrowseFilter,
  after: string | null,
): Promise<{ rows: BrowsedRow[]; next: string | null; limit: SearchLimit | null }> {
  const found = await findIn(ctx, scope, filter.search, filter);
  const read: ReadFrom<BrowsedRow> = (after, limit) =>
    selectBrowsedRequests(ctx.db, scope, filter, partOf(found, after, limit), onPage);
  const page = await readPage(read, cursorOf, after);
  return { ...page, limit: found?.limit ?? null };
}

/**
 * All requests of a filter, newest first, in batches; null if its search did not look at everything, because what it
 * found would pass for all.
 */
export async function exportRequests(
  ctx: Context,
  scope: Scope,
  filter: BrowseFilter,
): Promise<AsyncGenerator<ExportedRow[]> | null> {
  const found = await findIn(ctx, scope, filter.search, filter);
  if (found?.limit) return null;
  const read: ReadFrom<ExportedRow> = (after, limit) =>
    selectBrowsedRequests(ctx.db, scope, filter, partOf(found, after, limit), exported);
  return batchesOf(read, cursorOf);
}

/** One request with all that an export shows; null for an unknown id. */
export async function readExported(ctx: Context, scope: Scope, id: string): Promise<ExportedRow | null> {
  const part = { ids: [id], before: null, limit: 1 };
  const [row] = await selectBrowsedRequests(ctx.db, scope, {}, part, exported);
  return row ?? null;
}

/**
 * The status of one request, as the list shows it.
 *
 * @throws Refusal not_found
 */
export async function readPortalStatus(ctx: Context, scope: Scope, requestId: string): Promise<PortalStatus> {
  const status = isUuid(requestId) && (await ctx.db.scoped(scope, (tx) => selectPortalStatus(tx, scope, requestId)));
  if (!status) throw refuse('not_found');
  return status;
}

/** What follows a cursor of a list, or of what a search found. */
function partOf(found: SearchResult | null, after: string | null, limit: number) {
  return { ids: found?.ids ?? null, before: after === null ? null : instantOfMs(after), limit };
}

/** `created_at` is unique within a scope. */
const cursorOf = (row: BrowsedRow) => String(row.created_at.getTime());

/**
 * The requests that a search finds among those of some merchants and a time; null if nothing was typed. Filters by
 * status or concern are not applied here, because any number of rows might have to be read to find enough.
 */
export async function findIn(
  ctx: Context,
  scope: Scope,
  typed: string | null | undefined,
  { accountId, since, until }: Pick<BrowseFilter, 'accountId' | 'since' | 'until'>,
): Promise<SearchResult | null> {
  if (!typed) return null;
  const accounts = [accountId ?? []].flat();
  const [only = null] = accounts.length === 1 ? accounts : [];
  const within = { ...(accountId && { accountId }), ...(since && { since }), ...(until && { until }) };
  return findRequests(ctx, { scope, accountId: only }, typed, {
    newest: (tx, before, limit) => pageOf(tx, scope, within, { ids: null, before, limit }),
    lists: Math.max(1, accounts.length),
  });
}
