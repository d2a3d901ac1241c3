import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';

/** Events are counted up to here. */
export const maxDeliveriesCounted = 1_000;

/** Whether a partner's events of one mode are being delivered. */
export function readDeliveryHealth(ctx: Context, scope: Scope): Promise<DeliveryHealth> {
  return ctx.db.scoped(scope, (tx) => selectHealth(tx, scope, maxDeliveriesCounted));
}

/** The state of a scope's deliveries; an endpoint that was never set has no URL. */
export type DeliveryHealth = {
  url: string | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  /** In a row. */
  failures: number;
  failing_since: Date | null;
  last_success_at: Date | null;
  /** Events waiting for an attempt, counted up to a limit. */
  waiting: number;
  oldest_waiting_at: Date | null;
  /** Events whose attempts are used up, counted up to a limit. */
  exhausted: number;
};

/** The health of a scope's endpoint, and its events that wait or are exhausted, each counted up to `max`. */
async function selectHealth(tx: Tx, scope: Scope, max: number): Promise<DeliveryHealth> {
  const inScope = tx`partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  const [row] = await tx<DeliveryHealth[]>`
    select e.url, e.disabled_at, e.disabled_reason, coalesce(e.failures, 0) as failures, e.failing_since,
      e.last_success_at, w.waiting, w.oldest_waiting_at, x.exhausted
    from (
      select count(*)::int as waiting, min(created_at) as oldest_waiting_at from (
        select created_at from webhook_deliveries where ${inScope} and state = 'waiting'
        order by next_attempt_at limit ${max}) counted) w
      cross join (
        select count(*)::int as exhausted from (
          select from webhook_deliveries where ${inScope} and state = 'exhausted' limit ${max}) counted) x
      left join webhook_endpoints e on e.partner_id = ${scope.partnerId} and e.test_mode = ${scope.testMode}`;
  if (!row) throw new Error('a count returned no row');
  return row;
}
