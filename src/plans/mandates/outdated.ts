import { theService } from '../../audit/write.ts';
import { scopeOfRow } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { endMandate } from './end.ts';
import { selectOutdated } from './store.ts';

const batch = { ofOne: 20, all: 200 };

/**
 * Ends mandates that have expired, or whose merchant now has another wallet. Customers are asked to agree again.
 * Alternates between partners; a failure delays no other.
 *
 * @returns how many ended
 */
export async function endOutdated(ctx: Context, signal: AbortSignal): Promise<number> {
  let ended = 0;
  for (const one of await selectOutdated(ctx.db.sql, ctx.clock.now(), batch)) {
    if (signal.aborted) break;
    try {
      if (await endMandate(ctx, theService, scopeOfRow(one), one.id, { reason: one.reason })) ended++;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      ctx.log.error({ err: error, mandate_id: one.id }, 'a mandate could not be ended');
    }
  }
  return ended;
}
