import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type AttemptRow, type DeliveryFilter, type DeliveryRow, selectAttempts, selectDeliveries } from './store.ts';

export type { AttemptRow, DeliveryState } from './store.ts';

export type LoggedDelivery = DeliveryRow & { log: AttemptRow[] };

/** One page of a partner's deliveries of one mode, newest first, each with all its attempts, oldest first. */
export function listDeliveries(
  ctx: Context,
  scope: Scope,
  filter: DeliveryFilter,
): Promise<{ deliveries: LoggedDelivery[]; hasMore: boolean }> {
  return ctx.db.scoped(scope, async (tx) => {
    const rows = await selectDeliveries(tx, scope, filter);
    const page = rows.slice(0, filter.limit);
    const ids = page.map((row) => row.id);
    const attempts = ids.length > 0 ? await selectAttempts(tx, scope, ids) : [];
    const byDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
    return {
      deliveries: page.map((row) => ({ ...row, log: byDelivery.get(row.id) ?? [] })),
      hasMore: rows.length > filter.limit,
    };
  });
}
