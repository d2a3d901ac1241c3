import type { Scope, Tx } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import type { DeliveryRow, DeliveryState } from './store.ts';

/** What of a scope's deliveries is wanted; what is absent is not asked. `failed`: given up, or waiting after a failure. */
export type DeliveryBrowseFilter = {
  state?: DeliveryState | 'failed';
  requestId?: string;
  since?: Date;
  until?: Date;
};

/** A delivery as a list shows it, with what its last attempt came to; null before the first one. */
export type BrowsedDelivery = DeliveryRow & {
  last_at: Date | null;
  last_status: number | null;
  last_error: string | null;
  last_ms: number | null;
};

/** `after`: id of the last delivery of the page before; anything else begins at the newest. */
export type DeliveryPosition = { after: string | null; limit: number };

/** Deliveries of a scope, newest first. */
export function selectBrowsed(
  tx: Tx,
  scope: Scope,
  { state, requestId, since, until }: DeliveryBrowseFilter,
  { after, limit }: DeliveryPosition,
): Promise<BrowsedDelivery[]> {
  const { partnerId, testMode } = scope;
  const failed = tx`and (d.state = 'exhausted' or (d.state = 'waiting' and d.attempts > 0))`;
  return tx<BrowsedDelivery[]>`
    select d.id, d.request_id, d.event, d.body, d.state, d.attempts, d.next_attempt_at, d.created_at, d.delivered_at,
      last.started_at as last_at, last.status_code as last_status, last.error as last_error, last.duration_ms as last_ms
    from webhook_deliveries d left join lateral (
      select a.started_at, a.status_code, a.error, a.duration_ms from webhook_attempts a
      where a.partner_id = d.partner_id and a.test_mode = d.test_mode and a.delivery_id = d.id
      order by a.started_at desc, a.id desc limit 1) last on true
    where d.partner_id = ${partnerId} and d.test_mode = ${testMode}
      ${state === undefined ? tx`` : state === 'failed' ? failed : tx`and d.state = ${state}`}
      ${requestId === undefined ? tx`` : tx`and d.request_id = ${requestId}`}
      ${since === undefined ? tx`` : tx`and d.created_at >= ${since}`}
      ${until === undefined ? tx`` : tx`and d.created_at < ${until}`}
      ${isUuid(after) ? tx`and (d.created_at, d.id) < (select c.created_at, c.id from webhook_deliveries c where c.partner_id = ${partnerId} and c.test_mode = ${testMode} and c.id = ${after})` : tx``}
    order by d.created_at desc, d.id desc limit ${limit}`;
}
