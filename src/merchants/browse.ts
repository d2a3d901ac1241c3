import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { batchesOf, type ReadFrom, readPage } from '../lib/paging.ts';
import { type MerchantBrowseFilter, selectBrowsedMerchants } from './browse-store.ts';
import type { MerchantRow } from './store.ts';

export { type MerchantBrowseFilter, onboardingStates, switches } from './browse-store.ts';

const readFrom =
  (ctx: Context, scope: Scope, filter: MerchantBrowseFilter): ReadFrom<MerchantRow> =>
  (after, limit) =>
    ctx.db.reading(scope, (tx) => selectBrowsedMerchants(tx, scope, filter, { after, limit }));
const cursorOf = ({ id }: MerchantRow) => id;

/** One page of a scope's merchants, newest first. */
export const browseMerchants = (ctx: Context, scope: Scope, filter: MerchantBrowseFilter, after: string | null) =>
  readPage(readFrom(ctx, scope, filter), cursorOf, after);

/** All merchants of a filter, newest first, in batches. */
export const exportMerchants = (ctx: Context, scope: Scope, filter: MerchantBrowseFilter) =>
  batchesOf(readFrom(ctx, scope, filter), cursorOf);
