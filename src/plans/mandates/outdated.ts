import { theService } from '../../audit/write.ts';
import { scopeOfRow } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { endMandate } from './end.ts';
import { selectOutdated } from './store.ts';

const batch = { ofOne: 20, all: 200 };
const maxBatches = 50;

/**
 * Ends mandates that have expired, or whose merchant now has another wallet. Customers are asked to agree again.
 * Alternates between partners, in batches until none is left; one that fails delays no other.
 *
 * @returns how many ended
 */
export async function endOutdated(ctx: Context, signal: AbortSignal): Promise<number> {
  let ended = 0;
  const failed: string[] = [];
  for (let i = 0; i < maxBatches; i++) {
    const outdated = await selectOutdated(ctx.db.sql, ctx.clock.now(), { ...batch, except: failed });
    if (outdated.length === 0) break;
    for (const one of outdated) {
      if (signal.aborted) return ended;
      try {
        if (await endMandate(ctx, theService, scopeOfRow(one), one.id, { reason: one.reason })) ended++;
      } catch (error) {
        if (isUnreachable(error)) throw error;
        ctx.log.error({ err: error, mandate_id: one.id }, 'a mandate could not be ended');
        failed.push(one.id);
      }
    }
  }
  return ended;
}
