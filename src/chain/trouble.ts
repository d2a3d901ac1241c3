import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { minuteMs } from '../lib/durations.ts';
import type { Mode } from '../lib/mode.ts';

/** A chain of which nothing was read for this long is in trouble: blocks arrive, and are polled, more often. */
const silentMs = minuteMs;

/** The chains of a mode that could not be read for a minute, and since when; queries only the database. */
export async function chainsInTrouble(
  ctx: Context,
  mode: Mode,
): Promise<{ chain: ChainConfig; readAt: Date | null }[]> {
  const chains = ctx.chains[mode];
  const ids = chains.map(({ chainId }) => chainId);
  const rows = await ctx.db.sql<{ chain_id: string; updated_at: Date; silent: boolean }[]>`
    select chain_id, updated_at, updated_at < now() - ${silentMs} * interval '1 ms' as silent
    from chain_cursors where chain_id = any(${ids}::bigint[])`;
  return chains.flatMap((chain) => {
    const row = rows.find(({ chain_id }) => Number(chain_id) === chain.chainId);
    return row && !row.silent ? [] : [{ chain, readAt: row?.updated_at ?? null }];
  });
}
