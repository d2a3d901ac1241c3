import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';
import type { Mode } from '../lib/mode.ts';
import { selectReadStates } from './cursors.ts';

/** A chain is silent if nothing was read from it for this long. Blocks arrive, and are polled, more often. */
export const silentMs = minuteMs;

/** The chains of a mode that could not be read for a minute, and since when; queries only the database. */
export async function silentChains(ctx: Context, mode: Mode): Promise<{ chain: ChainConfig; readAt: Date | null }[]> {
  const chains = ctx.chains[mode];
  const ids = chains.map(({ chainId }) => chainId);
  const rows = await selectReadStates(ctx.db.sql, silentMs, ids);
  return chains.flatMap((chain) => {
    const row = rows.find(({ chain_id }) => Number(chain_id) === chain.chainId);
    return row && !row.silent ? [] : [{ chain, readAt: row?.updated_at ?? null }];
  });
}

/** A chain that is not read sends no notifications, so it is checked this often while somebody watches. */
const checkEveryMs = 15_000;

type Watch = { wakes: Set<() => void>; timer: NodeJS.Timeout };
const watches = new WeakMap<Database, Map<Mode, Watch>>();

/**
 * Wakes whoever watches when a chain of a mode falls silent, or is read again. However many watch, a process checks
 * only once.
 *
 * @returns a function that ends it
 */
export function watchSilentChains(ctx: Context, mode: Mode, wake: () => void, everyMs = checkEveryMs): () => void {
  const ofModes = watches.get(ctx.db) ?? new Map<Mode, Watch>();
  watches.set(ctx.db, ofModes);
  const watch = ofModes.get(mode) ?? beginWatch(ctx, mode, everyMs);
  ofModes.set(mode, watch);
  watch.wakes.add(wake);
  return () => {
    watch.wakes.delete(wake);
    if (watch.wakes.size > 0 || ofModes.get(mode) !== watch) return;
    ofModes.delete(mode);
    clearInterval(watch.timer);
  };
}

function beginWatch(ctx: Context, mode: Mode, everyMs: number): Watch {
  const wakes = new Set<() => void>();
  let last: string | null = null;
  const look = async () => {
    const now = (await silentChains(ctx, mode)).map(({ chain }) => chain.chainId).join();
    if (last !== null && now !== last) for (const wake of wakes) wake();
    last = now;
  };
  const tryToLook = () => void look().catch((error) => ctx.log.warn({ err: error }, 'the chains cannot be checked'));
  tryToLook();
  return { wakes, timer: setInterval(tryToLook, everyMs) };
}
