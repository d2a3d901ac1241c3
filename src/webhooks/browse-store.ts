import { branchesOf } from '../db/branches.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { attemptsOf } from './attempt-months.ts';
import type { DeliveryRow, DeliveryState } from './store.ts';

/** Filters of a scope's deliveries; absent ones do not filter. `failed`: given up, or waiting after a failure. */
export type DeliveryBrowseFilter = {
  state?: DeliveryState | 'failed';
  requestId?: string;
  since?: Date;
  until?: Date;
};

/** A delivery as listed, with the result of its last attempt; null before the first one. */
export type BrowsedDelivery = DeliveryRow & {
  last_at: Date | null;
  last_status: number | null;
  last_error: string | null;
  last_ms: number | null;
};

/** `after`: id of the last delivery of the previous page; anything else starts at the newest. */
export type DeliveryPosition = { after: string | null; limit: number };

/** The states as indexed: the state, and whether there was an attempt. Each is read separately. */
const states: Record<DeliveryState | 'failed', [DeliveryState, tried: 0 | 1][]> = {
  waiting: [
    ['waiting', 0],
    ['waiting', 1],
  ],
  delivered: [
    ['delivered', 0],
    ['delivered', 1],
  ],
  exhausted: [
    ['exhausted', 0],
    ['exhausted', 1],
  ],
  failed: [
    ['exhausted', 0],
    ['exhausted', 1],
    ['waiting', 1],
  ],
};

/** Deliveries of a scope, newest first. */
export async function selectBrowsedDeliveries(
  tx: Tx,
  scope: Scope,
  { state, requestId, since, until }: DeliveryBrowseFilter,
  { after, limit }: DeliveryPosition,
): Promise<BrowsedDelivery[]> {
  const inScope = tx`d.partner_id = ${scope.partnerId} and d.test_mode = ${scope.testMode}`;
  const [last] = isUuid(after)
    ? await tx<{ at: string; id: string }[]>`
        select d.created_at::text as at, d.id from webhook_deliveries d where ${inScope} and d.id = ${after}`
    : [];
  const own = tx`
    select d.* from webhook_deliveries d where ${inScope}
      ${requestId === undefined ? tx`` : tx`and d.request_id = ${requestId}`}
      ${since === undefined ? tx`` : tx`and d.created_at >= ${since}`}
      ${until === undefined ? tx`` : tx`and d.created_at < ${until}`}
      ${last ? tx`and (d.created_at, d.id) < (${last.at}::text::timestamptz, ${last.id})` : tx``}`;
  const branches = (state ? states[state] : []).map(
    ([one, tried]) => tx`${own} and d.state = ${one} and (case when d.attempts > 0 then 1 else 0 end) = ${tried}`,
  );
  const place = tx`order by created_at desc, id desc limit ${limit}`;
  return tx<BrowsedDelivery[]>`
    select d.id, d.request_id, d.event, d.body, d.state, d.attempts, d.next_attempt_at, d.created_at, d.delivered_at,
      last.started_at as last_at, last.status_code as last_status, last.error as last_error, last.duration_ms as last_ms
    from (${branchesOf(tx, state ? branches : [own], place)}) d left join lateral (
      select a.started_at, a.status_code, a.error, a.duration_ms from webhook_attempts a
      where ${attemptsOf(tx)}
      order by a.started_at desc, a.id desc limit 1) last on true
    order by d.created_at desc, d.id desc`;
}
