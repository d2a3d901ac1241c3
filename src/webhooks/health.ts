import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type DeliveryHealth, selectHealth } from './health-store.ts';

export type { DeliveryHealth } from './health-store.ts';

/** Events are counted up to here. */
export const mostCounted = 1_000;

/** Whether a partner's events of one mode get through. */
export function readDeliveryHealth(ctx: Context, scope: Scope): Promise<DeliveryHealth> {
  return ctx.db.scoped(scope, (tx) => selectHealth(tx, scope, mostCounted));
}
