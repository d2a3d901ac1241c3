import { type CursorRow, selectCursors } from '../chain/cursors.ts';
import { allChains, type ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { rowsInBatches } from '../db/in-batches.ts';
import { modes } from '../lib/mode.ts';
import { releaseReserved } from '../requests/reservations.ts';

const batchSize = 500;

/**
 * Frees reserved amounts whose time has passed, once every chain of their mode has been read past it: until then a
 * payment of that time may still appear.
 *
 * @returns how many were freed
 */
export async function releaseReservations(ctx: Context, signal: AbortSignal): Promise<number> {
  let released = 0;
  const cursors = await selectCursors(
    ctx.db.sql,
    allChains(ctx.chains).map(({ chainId }) => chainId),
  );
  for (const mode of modes) {
    const readUpTo = readTimeOf(ctx.chains[mode], cursors);
    if (!readUpTo) continue;
    const due = { testMode: mode === 'test', readUpTo, limit: batchSize };
    released += await rowsInBatches(signal, batchSize, () => releaseReserved(ctx.db, due));
  }
  return released;
}

/** The time up to which all these chains were read; null without a chain, and while one of them was not read at all. */
function readTimeOf(chains: readonly ChainConfig[], cursors: readonly CursorRow[]): Date | null {
  const read = cursors.filter((cursor) => chains.some(({ chainId }) => String(chainId) === cursor.chain_id));
  if (chains.length === 0 || read.length < chains.length) return null;
  return new Date(Math.min(...read.map(({ block_time }) => block_time.getTime())));
}
