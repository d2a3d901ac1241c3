import { selectCursors } from '../chain/cursors.ts';
import type { Context } from '../context.ts';
import { type Mode, modes } from '../lib/mode.ts';
import { releaseReserved } from '../requests/reservations.ts';

const batchSize = 500;
const maxBatches = 20;

/**
 * Frees reserved amounts whose time has passed, once every chain of their mode has been read past it: until then a
 * payment of that time may still appear.
 *
 * @returns how many were freed
 */
export async function releaseReservations(ctx: Context): Promise<number> {
  let released = 0;
  for (const mode of modes) {
    const readUpTo = await readTimeOf(ctx, mode);
    if (!readUpTo) continue;
    for (let batch = 0; batch < maxBatches; batch++) {
      const count = await releaseReserved(ctx.db, { testMode: mode === 'test', readUpTo, limit: batchSize });
      released += count;
      if (count < batchSize) break;
    }
  }
  return released;
}

/** The time up to which all chains of a mode were read; null while one of them was not read at all. */
async function readTimeOf(ctx: Context, mode: Mode): Promise<Date | null> {
  const chainIds = ctx.chains[mode].map(({ chainId }) => chainId);
  const cursors = await selectCursors(ctx.db.sql, chainIds);
  if (chainIds.length === 0 || cursors.length < chainIds.length) return null;
  return new Date(Math.min(...cursors.map(({ block_time }) => block_time.getTime())));
}
