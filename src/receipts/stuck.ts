import type { Context } from '../context.ts';
import type { Scope, Sql } from '../db/connection.ts';
import { type Channel, type GivenUpReceipt, selectGivenUp, selectReceiptDepth, updateRetried } from './stuck-store.ts';

export type { GivenUpReceipt } from './stuck-store.ts';

const mostListed = 100;

/** Operators: how many receipts wait to be handed on, at most `most`, and since when the oldest does. */
export const receiptDepth = (ctx: Context, most: number) => selectReceiptDepth(ctx.db.sql, most);

/** Operators: receipts that were given up, the newest first; at most 100. */
export const listGivenUpReceipts = (ctx: Context): Promise<GivenUpReceipt[]> => selectGivenUp(ctx.db.sql, mostListed);

/** Hands a receipt that was given up on anew; false when it is none. */
export const retryReceipt = (sql: Sql, scope: Scope, requestId: string, channel: Channel): Promise<boolean> =>
  updateRetried(sql, scope, requestId, channel);
