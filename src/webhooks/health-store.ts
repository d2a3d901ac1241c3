import type { Scope, Tx } from '../db/connection.ts';
import type { MailSender } from '../partners/branding.ts';
import { deadReason, type Health } from './rules.ts';

/** An endpoint's health, locked until the transaction ends; only while the attempted URL is still the current one. */
export type HealthRow = Health & { partner_id: string; test_mode: boolean; url: string; probe: string | null };
export type EndpointKey = { partner_id: string; test_mode: boolean; url: string };

/**
 * Locked in key order, so that two processes never deadlock.
 *
 * @param whenLocked `skip`: endpoints that another transaction has locked are left out
 */
export function lockHealth(tx: Tx, keys: EndpointKey[], whenLocked: 'wait' | 'skip'): Promise<HealthRow[]> {
  return tx<HealthRow[]>`
    select e.partner_id, e.test_mode, e.url, e.failures, e.failing_since, e.last_success_at, e.disabled_reason,
      e.probe_at::text as probe
    from webhook_endpoints e join ${endpointsOf(tx, keys)}
    order by e.partner_id, e.test_mode for update of e ${whenLocked === 'skip' ? tx`skip locked` : tx``}`;
}

const endpointsOf = (tx: Tx, keys: EndpointKey[]) => tx`
  json_to_recordset(${JSON.stringify(keys)}::json) as k (partner_id uuid, test_mode boolean, url text)
    on e.partner_id = k.partner_id and e.test_mode = k.test_mode and e.url = k.url`;

/** Those of these endpoints whose URL is still this one. */
export function selectCurrent(tx: Tx, keys: EndpointKey[]): Promise<EndpointKey[]> {
  return tx<EndpointKey[]>`
    select e.partner_id, e.test_mode, e.url from webhook_endpoints e join ${endpointsOf(tx, keys)}`;
}

export type HealthUpdate = HealthRow & { probeWaitMs: number | null; keepsProbe: boolean; disabledAt: Date | null };

/** Stores the health of endpoints that this transaction has locked. */
export async function updateHealth(tx: Tx, updates: HealthUpdate[]): Promise<void> {
  await tx`
    update webhook_endpoints e set failures = u.failures, failing_since = u.failing_since,
      last_success_at = u.last_success_at,
      probe_at = case when u."keepsProbe" then e.probe_at else now() + u."probeWaitMs" * interval '1 ms' end,
      disabled_reason = u.disabled_reason, disabled_at = coalesce(e.disabled_at, u."disabledAt")
    from json_to_recordset(${JSON.stringify(updates)}::json) as u (partner_id uuid, test_mode boolean, failures int,
      failing_since timestamptz, last_success_at timestamptz, "probeWaitMs" double precision, "keepsProbe" boolean, disabled_reason text,
      "disabledAt" timestamptz)
    where e.partner_id = u.partner_id and e.test_mode = u.test_mode`;
}

type DisabledRow = { partner_id: string; test_mode: boolean; url: string; disabled_reason: string };

/**
 * Disables an endpoint that has been failing since this instant or longer. Which one is random, so that those that
 * cannot be disabled do not come first in every pass. A locked one is left to the next pass.
 *
 * @param except endpoints that could not be disabled
 * @returns null when there is none
 */
export async function disableFailing(
  tx: Tx,
  { failingSince, now, except }: { failingSince: Date; now: Date; except: readonly DisabledRow[] },
): Promise<DisabledRow | null> {
  const [row] = await tx<DisabledRow[]>`
    update webhook_endpoints e set disabled_at = ${now}, disabled_reason = ${deadReason}
    from (
      select partner_id, test_mode from webhook_endpoints
      where failing_since <= ${failingSince} and disabled_at is null and url is not null
        and not exists (
          select from unnest(${except.map((row) => row.partner_id)}::uuid[],
            ${except.map((row) => row.test_mode)}::boolean[]) as x (partner_id, test_mode)
          where x.partner_id = webhook_endpoints.partner_id and x.test_mode = webhook_endpoints.test_mode)
      order by random() limit 1 for update skip locked) dead
    where e.partner_id = dead.partner_id and e.test_mode = dead.test_mode
    returning e.partner_id, e.test_mode, e.url, e.disabled_reason`;
  return row ?? null;
}

/** The partner's address for notices, its language if known, and the branding of its mails. */
export type Contact = { email: string | null; language: string | null } & MailSender;

export async function selectContact(tx: Tx, partnerId: string): Promise<Contact | null> {
  const [row] = await tx<Contact[]>`
    select email, slug, name, accent, logo_hash, (
      select u.language from users u where u.partner_id = p.id and u.email = lower(p.email)) as language
    from partners p where id = ${partnerId}`;
  return row ?? null;
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
export async function selectHealth(tx: Tx, scope: Scope, max: number): Promise<DeliveryHealth> {
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
