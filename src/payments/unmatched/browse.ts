import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { batchesOf, type ReadFrom, readPage } from '../../lib/paging.ts';
import { instantOfMs } from '../../lib/time.ts';
import {
  countNamed,
  maxNamed,
  selectUnmatchedAfter,
  selectUnmatchedSums,
  type UnmatchedCursor,
  type UnmatchedFilter,
  type UnmatchedRow,
  type UnmatchedSum,
} from './store.ts';

export type { UnmatchedFilter, UnmatchedRow, UnmatchedSum } from './store.ts';

/** At most this many are summed. */
export const maxSummed = 1_000;

const readFrom =
  (ctx: Context, scope: Scope, filter: UnmatchedFilter): ReadFrom<UnmatchedRow> =>
  (after, limit) =>
    ctx.db.read(scope, (sql) => selectUnmatchedAfter(sql, scope, filter, readCursor(after), limit));

/**
 * How many transfers a search named, if there may be more, so that the list holds only some; null if it holds all.
 */
export async function searchCut(ctx: Context, scope: Scope, filter: UnmatchedFilter): Promise<number | null> {
  const { search } = filter;
  if (!search) return null;
  const count = await ctx.db.reading(scope, (tx) => countNamed(tx, scope, { ...filter, search }));
  return count < maxNamed ? null : count;
}

/** One page of a scope's unmatched payments, newest first, and the cursor of the next page; null at the end. */
export const browseUnmatched = (ctx: Context, scope: Scope, filter: UnmatchedFilter, after: string | null) =>
  readPage(readFrom(ctx, scope, filter), writeCursor, after);

/** All unmatched payments of a filter, newest first, in batches. */
export const exportUnmatched = (ctx: Context, scope: Scope, filter: UnmatchedFilter) =>
  batchesOf(readFrom(ctx, scope, filter), writeCursor);

/** The sums of unmatched payments since a time, by reason, among the newest `maxSummed` payments. */
export function sumUnmatched(ctx: Context, scope: Scope, since: Date): Promise<UnmatchedSum[]> {
  return ctx.db.scoped(scope, (tx) => selectUnmatchedSums(tx, scope, since, maxSummed));
}

function writeCursor(row: UnmatchedRow): string {
  return `${row.block_time.getTime()}_${row.chain_id}_${row.tx_hash}_${row.ordinal}`;
}

/**
 * Block times are whole seconds, so milliseconds represent them exactly. Anything that is not a cursor starts with the
 * newest.
 */
function readCursor(after: string | null): UnmatchedCursor | null {
  const parts = /^(\d{1,15})_(\d{1,15})_(0x[0-9a-f]{64})_(\d{1,9})$/.exec(after ?? '');
  const blockTime = instantOfMs(parts?.[1] ?? '');
  if (!parts || blockTime === null) return null;
  const [, , chainId, txHash = '', ordinal] = parts;
  return { blockTime, chainId: Number(chainId), txHash, ordinal: Number(ordinal) };
}
