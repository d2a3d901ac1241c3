import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { devChainIds } from './chain.ts';
import { selectWaitingChains } from './mining-store.ts';
import { whileRehearsing } from './rehearsal.ts';
import { mine } from './wallet.ts';

/**
 * Mines one block on each local chain where a payment, a refund or a relayed call waits for finality and no rehearsal
 * runs. Does nothing if chains are configured by a file.
 *
 * @returns the number of chains on which something waits
 */
export async function mineWhileWaiting(ctx: Context): Promise<number> {
  if (!ctx.config.sandbox || ctx.config.chains) return 0;
  const ids: number[] = Object.values(devChainIds);
  const local = allChains(ctx.chains).filter((chain) => ids.includes(chain.chainId));
  const waiting = await selectWaitingChains(
    ctx.db.sql,
    local.map(({ chainId }) => chainId),
  );
  const due = local.filter(({ chainId }) => waiting.includes(chainId));
  await Promise.all(due.map((chain) => whileRehearsing(ctx.db, chain, () => mine(chain, 1), 0)));
  return waiting.length;
}
