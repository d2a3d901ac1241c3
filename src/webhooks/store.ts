import type { Database, Scope, Sql, Tx } from '../db/connection.ts';
import { type Fragment, list } from '../db/sql.ts';
import { attemptsOf } from './attempt-partitions.ts';
import { activateAfterMs } from './rules.ts';

/** A row of `webhook_endpoints`; secrets are encrypted. */
export type EndpointRow = {
  url: string | null;
  secret: Uint8Array;
  pending_secret: Uint8Array | null;
  pending_since: Date | null;
  /** Whether it has been pending for 24 h, by the database's clock: a node's clock may be wrong. */
  pending_is_due: boolean;
  /** The form that created the latest secret; null if none did. */
  secret_form: string | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  failures: number;
  last_success_at: Date | null;
  failing_since: Date | null;
  probe_at: Date | null;
};

export type NewDelivery = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  request_id: string;
  event: string;
  body: string;
};

/** Stores events, due at once; a second one for the same request is ignored. */
export async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  await tx`
    insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
    select partner_id, test_mode, id, request_id, event, body, now()
    from json_to_recordset(${JSON.stringify(deliveries)}::json)
      as e (partner_id uuid, test_mode boolean, id uuid, request_id uuid, event text, body text)
    on conflict (partner_id, test_mode, request_id) do nothing`;
}

const isDue = (sql: Sql | Tx): Fragment =>
  sql`coalesce(pending_since <= now() - ${activateAfterMs} * interval '1 ms', false)`;

/** The endpoint of a scope, without a lock; null if none was ever created. */
export async function selectEndpoint(tx: Tx, scope: Scope): Promise<EndpointRow | null> {
  const [row] = await tx<EndpointRow[]>`
    select *, ${isDue(tx)} as pending_is_due from webhook_endpoints
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  return row ?? null;
}

/** As `selectEndpoint`, locked until the transaction ends. */
export async function selectLocked(tx: Tx, scope: Scope): Promise<EndpointRow | null> {
  const [row] = await tx<EndpointRow[]>`
    select *, ${isDue(tx)} as pending_is_due from webhook_endpoints
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} for update`;
  return row ?? null;
}

/** Locks the endpoint, creating it first (without a URL, with the given secret) if there is none. */
export async function lockEndpoint(tx: Tx, scope: Scope, encryptedSecret: Uint8Array): Promise<EndpointRow> {
  await tx`
    insert into webhook_endpoints (partner_id, test_mode, secret)
    values (${scope.partnerId}, ${scope.testMode}, ${Buffer.from(encryptedSecret)}) on conflict do nothing`;
  const row = await selectLocked(tx, scope);
  if (!row) throw new Error('the endpoint is outside its scope');
  return row;
}

/** Sets the URL, and resets its record: deliveries to another URL say nothing about it. */
export async function updateUrl(tx: Tx, scope: Scope, url: string | null): Promise<void> {
  await tx`
    update webhook_endpoints set url = ${url}, last_success_at = case when url = ${url} then last_success_at end
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
}

/** Forgets all failures of an endpoint, and enables it. */
export async function updateFailuresReset(tx: Tx, scope: Scope): Promise<void> {
  await tx`
    update webhook_endpoints
    set disabled_at = null, disabled_reason = null, failures = 0, failing_since = null, probe_at = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
}

/** Makes events that wait for their next attempt due now, the next ones first; returns how many. */
export async function updateDueNow(tx: Tx, scope: Scope, limit: number): Promise<number> {
  const { count } = await tx`
    update webhook_deliveries set next_attempt_at = now()
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id in (
      select id from webhook_deliveries
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
        and state = 'waiting' and next_attempt_at > now()
      order by next_attempt_at limit ${limit} for update skip locked)`;
  return count;
}

/** Stores a new pending secret in place of an earlier one, with the form that asked for it. */
export async function updatePending(
  tx: Tx,
  scope: Scope,
  encryptedSecret: Uint8Array,
  formKey: string | null,
): Promise<void> {
  await tx`
    update webhook_endpoints set pending_secret = ${Buffer.from(encryptedSecret)}, pending_since = now(),
      secret_form = ${formKey}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
}

/** The pending secret takes over. */
export async function updateActivated(tx: Tx, scope: Scope): Promise<void> {
  await tx`
    update webhook_endpoints set secret = pending_secret, pending_secret = null, pending_since = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and pending_secret is not null`;
}

/** The loop's lookup over all partners: endpoints whose secret has been pending for 24 h. */
export function selectDueSecrets({ sql }: Database, limit: number) {
  return sql<{ partner_id: string; test_mode: boolean }[]>`
    select partner_id, test_mode from webhook_endpoints
    where pending_secret is not null and ${isDue(sql)} order by pending_since limit ${limit}`;
}

/**
 * Starts a new round of attempts with the same id and body. An attempt in progress no longer decides the delivery's
 * state.
 */
export async function updateReplayed(tx: Tx, scope: Scope, deliveryId: string): Promise<boolean> {
  const rows = await tx`
    update webhook_deliveries set state = 'waiting', attempts = 0, next_attempt_at = now(), delivered_at = null,
      lease = null, lease_until = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${deliveryId} returning id`;
  return rows.length > 0;
}

const ownOf = (tx: Tx, { partnerId, testMode }: Scope) => tx`partner_id = ${partnerId} and test_mode = ${testMode}`;

/** Events of a scope that are exhausted, or have failed so far. */
const failedOf = (tx: Tx, scope: Scope) =>
  tx`${ownOf(tx, scope)} and (state = 'exhausted' or (state = 'waiting' and attempts > 0))`;

/** The condition that an event was written after another one. */
const isAfter = (tx: Tx, scope: Scope, id: string) =>
  tx`(created_at, id) > (select created_at, id from webhook_deliveries where ${ownOf(tx, scope)} and id = ${id})`;

/**
 * As `updateReplayed`, for everything exhausted, or failed and waiting, among the events since a time.
 *
 * @param after only events behind this one, in the order of the result
 * @returns their ids, oldest first
 */
export async function updateReplayedSince(
  tx: Tx,
  scope: Scope,
  { since, after, limit }: { since: Date; after: string | null; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from webhook_deliveries
    where ${failedOf(tx, scope)} and created_at >= ${since} ${after === null ? tx`` : tx`and ${isAfter(tx, scope, after)}`}
    order by created_at, id limit ${limit} for update`;
  const ids = rows.map(({ id }) => id);
  // A statement of its own: a partner's failures come all at once, so statistics do not count them yet. A join would be
  // planned for one row, and take a minute for so many.
  await tx`
    update webhook_deliveries set state = 'waiting', attempts = 0, next_attempt_at = now(), lease = null, lease_until = null
    where ${ownOf(tx, scope)} and id = any(${ids}::uuid[])`;
  return ids;
}

/** Whether an event that was written after another one is exhausted or has failed so far. */
export async function selectHasFailedAfter(tx: Tx, scope: Scope, id: string): Promise<boolean> {
  const rows = await tx`
    select from webhook_deliveries where ${failedOf(tx, scope)} and ${isAfter(tx, scope, id)} limit 1`;
  return rows.length > 0;
}

export type DeliveryState = 'waiting' | 'delivered' | 'exhausted';

/** A delivery as a partner may see it. */
export type DeliveryRow = {
  id: string;
  request_id: string;
  event: string;
  body: string;
  state: DeliveryState;
  attempts: number;
  next_attempt_at: Date;
  created_at: Date;
  delivered_at: Date | null;
};

export type DeliveryFilter = { id?: string; requestId?: string; state?: DeliveryState; limit: number; offset: number };

/** One page and one row more, newest first. */
export async function selectDeliveries(tx: Tx, scope: Scope, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  const { id, requestId, state, limit, offset } = filter;
  return tx<DeliveryRow[]>`
    select id, request_id, event, body, state, attempts, next_attempt_at, created_at, delivered_at
    from webhook_deliveries
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      ${id ? tx`and id = ${id}` : tx``} ${requestId ? tx`and request_id = ${requestId}` : tx``}
      ${state ? tx`and state = ${state}` : tx``}
    order by created_at desc, id limit ${limit + 1} offset ${offset}`;
}

export type AttemptRow = {
  delivery_id: string;
  url: string;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  /** JSON text. */
  request_headers: string;
  /** JSON text; null if there was no answer. */
  response_headers: string | null;
  response_body: string | null;
};

/**
 * The attempts of some deliveries, oldest first, from all rounds. `offset 0` makes the planner look them up delivery by
 * delivery, each only in the partitions of its own time.
 */
export async function selectAttempts(tx: Tx, scope: Scope, deliveryIds: string[]): Promise<AttemptRow[]> {
  return tx<AttemptRow[]>`
    select a.delivery_id, a.url, a.started_at, a.duration_ms, a.status_code, a.error, a.request_headers,
      a.response_headers, a.response_body
    from webhook_deliveries d cross join lateral (
      select a.* from webhook_attempts a where ${attemptsOf(tx)} offset 0) a
    where d.partner_id = ${scope.partnerId} and d.test_mode = ${scope.testMode} and d.id in ${list(deliveryIds)}
    order by a.started_at, a.id`;
}
