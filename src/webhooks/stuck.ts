import { scopeOfDelivery } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { type QueueDepth, queueDepth } from '../db/queue-depth.ts';
import { isUuid } from '../lib/ids.ts';
import { batchesOf, type ReadFrom, readPage } from '../lib/paging.ts';
import {
  type StuckDelivery,
  selectDisabled,
  selectDueCount,
  selectExhausted,
  waitingDeliveries,
} from './stuck-store.ts';

const maxDisabled = 100;

/** For operators: how many events wait for an attempt, over all partners, and when the oldest was created. */
export const eventDepth = ({ db: { sql } }: Context, max: number): Promise<QueueDepth> =>
  queueDepth(sql, waitingDeliveries(sql), max);

/**
 * For metrics: how many events are due for an attempt now, counted up to `max`. Those of partners without a URL or with
 * a disabled endpoint wait for the partner, and those of a failing endpoint for its probe. Endpoints are found as
 * `claimDue` finds them, so what waits for later costs nothing.
 */
export const countDue = ({ db: { sql } }: Pick<Context, 'db'>, max: number): Promise<number> =>
  selectDueCount(sql, max);

const idOf = ({ id }: StuckDelivery) => id;
const readFrom =
  (ctx: Context): ReadFrom<StuckDelivery> =>
  async (from, limit) => {
    if (!isUuid(from)) return selectExhausted(ctx.db.sql, null, limit);
    const scope = await scopeOfDelivery(ctx.db, from);
    return scope ? selectExhausted(ctx.db.sql, { scope, id: from }, limit) : [];
  };

/** For operators: one page of the events whose attempts are used up. */
export const browseExhausted = (ctx: Context, after: string | null) => readPage(readFrom(ctx), idOf, after);

/** Operators: all of them, in batches. */
export const exportExhausted = (ctx: Context) => batchesOf(readFrom(ctx), idOf);

/** For operators: disabled endpoints, latest first; at most 100. */
export const listDisabledEndpoints = (ctx: Context) => selectDisabled(ctx.db.sql, maxDisabled);
