import type { Context } from '../context.ts';
import { batchesOf, pageOf, type ReadFrom } from '../lib/batches.ts';
import { isUuid } from '../lib/ids.ts';
import { type StuckDelivery, selectDepth, selectDisabled, selectExhausted } from './stuck-store.ts';

export type { DisabledEndpoint, StuckDelivery } from './stuck-store.ts';

const mostDisabled = 100;

/** Operators: how many events wait for an attempt, over all partners; counted up to `most`. */
export const eventDepth = (ctx: Context, most: number) => selectDepth(ctx.db.sql, most);

const idOf = ({ id }: StuckDelivery) => id;
const readFrom =
  (ctx: Context): ReadFrom<StuckDelivery> =>
  (from, limit) =>
    selectExhausted(ctx.db.sql, isUuid(from) ? from : null, limit);

/** Operators: one page of the events whose attempts are used up. */
export const browseExhausted = (ctx: Context, after: string | null) => pageOf(readFrom(ctx), idOf, after);

/** Operators: all of them, in batches. */
export const exportExhausted = (ctx: Context) => batchesOf(readFrom(ctx), idOf);

/** Operators: the endpoints that were disabled, the latest first; at most 100. */
export const listDisabledEndpoints = (ctx: Context) => selectDisabled(ctx.db.sql, mostDisabled);
