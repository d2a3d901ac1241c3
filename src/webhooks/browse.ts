import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { batchesOf, type ReadFrom, readPage } from '../lib/paging.ts';
import { type BrowsedDelivery, type DeliveryBrowseFilter, selectBrowsedDeliveries } from './browse-store.ts';

export type { BrowsedDelivery, DeliveryBrowseFilter } from './browse-store.ts';

const readFrom =
  (ctx: Context, scope: Scope, filter: DeliveryBrowseFilter): ReadFrom<BrowsedDelivery> =>
  (after, limit) =>
    ctx.db.reading(scope, (tx) => selectBrowsedDeliveries(tx, scope, filter, { after, limit }));
const cursorOf = ({ id }: BrowsedDelivery) => id;

/** One page of a scope's deliveries, newest first. */
export const browseDeliveries = (ctx: Context, scope: Scope, filter: DeliveryBrowseFilter, after: string | null) =>
  readPage(readFrom(ctx, scope, filter), cursorOf, after);

/** All deliveries of a filter, newest first, in batches. */
export const exportDeliveries = (ctx: Context, scope: Scope, filter: DeliveryBrowseFilter) =>
  batchesOf(readFrom(ctx, scope, filter), cursorOf);
