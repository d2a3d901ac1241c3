import { theService } from '../../audit/write.ts';
import { scopeOfRow } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { itemsInBatches } from '../../db/in-batches.ts';
import { endMandate } from './end.ts';
import { selectOutdated } from './store.ts';

const batch = { ofOne: 20, all: 200 };

/**
 * Ends mandates that have expired, or whose merchant now has another wallet. Customers are asked to agree again.
 * Alternates between partners, in batches until none is left; one that fails delays no other.
 *
 * @returns how many ended
 */
export function endOutdated(ctx: Context, signal: AbortSignal): Promise<number> {
  return itemsInBatches(signal, {
    read: (failed) => selectOutdated(ctx.db.sql, ctx.clock.now(), { ...batch, except: [...failed] }),
    keyOf: ({ id }) => id,
    handle: async (mandate) => {
      const { id, reason } = mandate;
      return (await endMandate(ctx, theService, scopeOfRow(mandate), id, { reason })) ? 1 : 0;
    },
    logFailure: (error, { id }) => ctx.log.error({ err: error, mandate_id: id }, 'a mandate could not be ended'),
  });
}
