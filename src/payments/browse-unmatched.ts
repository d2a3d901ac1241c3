import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import {
  selectUnmatchedAfter,
  selectUnmatchedSums,
  type UnmatchedCursor,
  type UnmatchedFilter,
  type UnmatchedRow,
  type UnmatchedSum,
} from './unmatched-store.ts';

export type { Reason } from './rules.ts';
export type { UnmatchedFilter, UnmatchedRow, UnmatchedSum } from './unmatched-store.ts';

const pageSize = 50;
const batchSize = 500;
/** An export ends here. */
const mostBatches = 4_000;
const mostSummed = 1_000;

/** One page of a scope's unmatched payments, newest first, and the cursor it goes on after; null at the end. */
export async function browseUnmatched(
  ctx: Context,
  scope: Scope,
  filter: UnmatchedFilter,
  after: string | null,
): Promise<{ rows: UnmatchedRow[]; next: string | null }> {
  const found = await ctx.db.scoped(scope, (tx) =>
    selectUnmatchedAfter(tx, scope, filter, readCursor(after), pageSize + 1),
  );
  const rows = found.slice(0, pageSize);
  const last = rows.at(-1);
  return { rows, next: found.length > pageSize && last ? writeCursor(last) : null };
}

/** All unmatched payments of a filter, newest first, in batches of 500, each read in a transaction of its own. */
export async function* exportUnmatched(
  ctx: Context,
  scope: Scope,
  filter: UnmatchedFilter,
): AsyncGenerator<UnmatchedRow[]> {
  let after: UnmatchedCursor | null = null;
  for (let batch = 0; batch < mostBatches; batch++) {
    const cursor: UnmatchedCursor | null = after;
    const rows = await ctx.db.scoped(scope, (tx) => selectUnmatchedAfter(tx, scope, filter, cursor, batchSize));
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < batchSize) return;
    after = cursorOf(last);
  }
}

/** What came unmatched since a time, by reason; of the newest 1,000 payments. */
export function sumUnmatched(ctx: Context, scope: Scope, since: Date): Promise<UnmatchedSum[]> {
  return ctx.db.scoped(scope, (tx) => selectUnmatchedSums(tx, scope, since, mostSummed));
}

function cursorOf(row: UnmatchedRow): UnmatchedCursor {
  return { blockTime: row.block_time, chainId: Number(row.chain_id), txHash: row.tx_hash, ordinal: row.ordinal };
}

function writeCursor(row: UnmatchedRow): string {
  return `${row.block_time.getTime()}_${row.chain_id}_${row.tx_hash}_${row.ordinal}`;
}

/** Block times have whole seconds, so milliseconds name them exactly. Anything that is no cursor begins at the newest. */
function readCursor(after: string | null): UnmatchedCursor | null {
  const parts = /^(\d{1,15})_(\d{1,15})_(0x[0-9a-f]{64})_(\d{1,9})$/.exec(after ?? '');
  if (!parts) return null;
  const [, time, chainId, txHash = '', ordinal] = parts;
  return { blockTime: new Date(Number(time)), chainId: Number(chainId), txHash, ordinal: Number(ordinal) };
}
