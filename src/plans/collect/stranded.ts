import type { Context } from '../../context.ts';
import { notifyQueue } from '../../db/changes.ts';
import { modes } from '../../lib/mode.ts';
import { updateStranded } from './queue-store.ts';

/**
 * Loop: hands charges that wait for a chain that CHAINS_FILE lacks to a chain that it has, if their plan's mandate is
 * not there any more. Their customers have agreed again elsewhere, or are asked to pay by link. Otherwise nobody would
 * judge them, and the plan's later charges would wait for them. Those with a mandate on the chain wait for its return.
 *
 * @returns how many there were
 */
export async function moveStranded(ctx: Pick<Context, 'db' | 'chains' | 'clock'>): Promise<number> {
  let taken = 0;
  for (const mode of modes) {
    const chainIds = ctx.chains[mode].map(({ chainId }) => chainId);
    taken += await updateStranded(ctx.db, { isTest: mode === 'test', chainIds, now: ctx.clock.now() });
  }
  if (taken > 0) await notifyQueue(ctx.db, 'charges');
  return taken;
}
