import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { selectLeaders } from './lease.ts';
import { leaseName } from './watcher.ts';

/**
 * Who reads a chain. `holder` identifies the process and is the same for all chains it leads; `fence` grows with each
 * change.
 */
export type ChainLeader = { chainId: number; holder: string; fence: number; alive: boolean; readAt: Date | null };

/** Who leads each of these chains, and when it last read something; chains that nobody ever led are omitted. */
export async function chainLeaders(ctx: Pick<Context, 'db'>, chains: ChainConfig[]): Promise<ChainLeader[]> {
  const names = chains.map(leaseName);
  const rows = await selectLeaders(ctx.db, names);
  return chains.flatMap((chain) => {
    const row = rows.find(({ name }) => name === leaseName(chain));
    if (!row) return [];
    const { holder, fence, alive, updated_at: readAt } = row;
    return [{ chainId: chain.chainId, holder, fence: Number(fence), alive, readAt }];
  });
}
