import type { Scope, Tx } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { unionBranches } from '../db/union-branches.ts';
import { isUuid } from '../lib/ids.ts';
import { attemptsOfPage } from './attempt-partitions.ts';
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

/**
 * How each filter is read from the indexes. The index of undelivered rows has the state (written here as in the index's
 * condition) and whether there was an attempt; each combination is read separately. Delivered rows are read by time.
 */
function branchesOfState(tx: Tx, state: DeliveryState | 'failed'): Fragment[] {
  const tried = (yes: boolean) => tx`(case when d.attempts > 0 then 1 else 0 end) = ${yes ? 1 : 0}`;
  const waiting = [tx`d.state = 'waiting' and ${tried(false)}`, tx`d.state = 'waiting' and ${tried(true)}`] as const;
  const exhausted = [tx`d.state = 'exhausted' and ${tried(false)}`, tx`d.state = 'exhausted' and ${tried(true)}`];
  if (state === 'waiting') return [...waiting];
  if (state === 'exhausted') return exhausted;
  return state === 'failed' ? [...exhausted, waiting[1]] : [tx`d.state = 'delivered'`];
}

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
  const branches = state ? branchesOfState(tx, state).map((branch) => tx`${own} and ${branch}`) : [own];
  const place = tx`order by created_at desc, id desc limit ${limit}`;
  return tx<BrowsedDelivery[]>`
    with page as materialized (${unionBranches(tx, branches, place)}),
    lasts as materialized (
      select distinct on (a.delivery_id) a.delivery_id, a.started_at, a.status_code, a.error, a.duration_ms
      from webhook_attempts a where ${attemptsOfPage(tx, scope)}
      order by a.delivery_id, a.started_at desc, a.id desc)
    select d.id, d.request_id, d.event, d.body, d.state, d.attempts, d.next_attempt_at, d.created_at, d.delivered_at,
      last.started_at as last_at, last.status_code as last_status, last.error as last_error, last.duration_ms as last_ms
    from page d left join lasts last on last.delivery_id = d.id
    order by d.created_at desc, d.id desc`;
}
