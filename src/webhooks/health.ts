import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type DeliveryHealth, selectHealth } from './health-store.ts';

/** Events are counted up to here. */
export const maxDeliveriesCounted = 1_000;

/** Whether a partner's events of one mode are being delivered. */
export function readDeliveryHealth(ctx: Context, scope: Scope): Promise<DeliveryHealth> {
  return ctx.db.scoped(scope, (tx) => selectHealth(tx, scope, maxDeliveriesCounted));
}
