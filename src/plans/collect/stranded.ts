import type { Context } from '../../context.ts';
import { notifyQueue } from '../../db/changes.ts';
import { modes } from '../../lib/mode.ts';
import { updateStranded } from './queue-store.ts';

/**
 * Loop: moves stranded charges to another chain. A charge is stranded if CHAINS_FILE lacks its chain, and its plan's
 * mandate is not on that chain any more. Its customer has agreed again elsewhere, or is asked to pay by link. On its
 * old chain no loop would handle it, and the plan's later charges would wait for it. A charge with a mandate on the
 * missing chain waits for that chain's return.
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
