import type { Context } from '../context.ts';
import { pageOf } from '../lib/batches.ts';
import { isUuid } from '../lib/ids.ts';
import { selectDepth, selectDisabled, selectExhausted } from './stuck-store.ts';

export type { DisabledEndpoint, QueueDepth, StuckDelivery } from './stuck-store.ts';

const mostDisabled = 100;

/** Operators: how many events wait for an attempt, over all partners; counted up to `most`. */
export const eventDepth = (ctx: Context, most: number) => selectDepth(ctx.db.sql, most);

/** Operators: one page of the events whose attempts are used up. */
export const browseExhausted = (ctx: Context, after: string | null) =>
  pageOf(
    (from, limit) => selectExhausted(ctx.db.sql, isUuid(from) ? from : null, limit),
    ({ id }) => id,
    after,
  );

/** Operators: the endpoints that were disabled, the latest first; at most 100. */
export const listDisabledEndpoints = (ctx: Context) => selectDisabled(ctx.db.sql, mostDisabled);
