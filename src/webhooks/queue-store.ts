import type { Sql, Tx } from '../db/connection.ts';
import { plainArray } from '../db/plain-array.ts';
import { keyIdIn } from '../db/secret-keys.ts';
import type { Fragment } from '../db/sql.ts';
import { endpointKey } from './endpoint-key.ts';
import { type Frontier, frontierFound, receivers, receiversFrom } from './receivers-store.ts';
import { activateAfterMs, type Health, leaseMs, type Next, probeAfterFailures, provenForMs } from './rules.ts';

/** An endpoint as a claim found it. All deliveries that were claimed with it share this object. */
export type ClaimedEndpoint = {
  url: string;
  secret: Uint8Array;
  pending_secret: Uint8Array | null;
  pending_since: Date | null;
  /** The probe that its delivery is; null while attempts are unrestricted. */
  probe: string | null;
  /** How long its deliveries are leased, by the database's clock: `leaseMs` from the claim. */
  lease_until: Date;
  /** Whether it has answered lately, by the database's clock, and not failed since. */
  proven: boolean;
} & Health;

/** A leased delivery, with the data of its endpoint that the attempt needs. */
export type ClaimedDelivery = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  /** The request that the event is about. */
  request_id: string;
  event: string;
  body: string;
  attempts: number;
  lease: string;
  endpoint: ClaimedEndpoint;
};

/**
 * An endpoint that this process knows: how many deliveries it has claimed for it, how many more it may claim, and
 * whether the endpoint answers.
 */
export type EndpointRoom = { partner_id: string; test_mode: boolean; held: number; room: number; proven: boolean };

export type ClaimLimits = {
  lease: string;
  /** How many deliveries, and how many of them for endpoints that are not known to answer. */
  free: number;
  freeUnproven: number;
  /** How many for an endpoint that this process does not know. */
  window: number;
  firstWaitMs: number;
  /** The ids of the secret keys that this process has: it can sign with what they encrypted. */
  keyIds: readonly string[];
  /** Where it begins: everywhere, or where an earlier claim found something. */
  from: 'everywhere' | Frontier;
  /** Whether it says where the next one may begin. */
  findsFrontier: boolean;
};

/**
 * Claims due deliveries, over all partners, in one statement that commits the leases. Each endpoint gets at most its
 * room, and every endpoint's first delivery comes before anyone's second. Endpoints are found by stepping through the
 * index of waiting deliveries, so the cost grows with the number of endpoints that have some, not with deliveries. Each
 * step begins where the one before found something, because earlier index entries lead to leased or recently delivered
 * rows. Rows that another process is claiming are skipped; expired leases are taken over. Endpoints that this process
 * cannot sign for are left to others. The data of an endpoint comes once, with its first delivery.
 */
export async function claimDue(
  sql: Sql,
  rooms: EndpointRoom[],
  limits: ClaimLimits,
): Promise<{ claimed: ClaimedDelivery[]; frontier: Frontier | null }> {
  const { lease, free, freeUnproven, window, firstWaitMs, keyIds, from, findsFrontier } = limits;
  const isDue = sql`d.state = 'waiting' and d.next_attempt_at <= now()
    and (d.lease_until is null or d.lease_until <= now())
    ${firstWaitMs > 0 ? sql`and (d.attempts > 0 or d.next_attempt_at <= now() - ${firstWaitMs} * interval '1 ms')` : sql``}`;
  const takesEvents = sql`e.url is not null and e.disabled_at is null and ${canSign(sql, keyIds)}`;
  const rows = await sql<(ClaimedRow | FrontierRow)[]>`
    with recursive ${from === 'everywhere' ? receivers(sql) : receiversFrom(sql, from)}, probing as (
      update webhook_endpoints e set probe_at = now() + ${leaseMs} * interval '1 ms'
      from (
        select e.partner_id, e.test_mode, r.from_at from webhook_endpoints e join receivers r using (partner_id, test_mode)
        where e.failures >= ${probeAfterFailures} and coalesce(e.probe_at, '-infinity') <= now() and ${takesEvents}
          and exists (select from webhook_deliveries d
            where d.partner_id = e.partner_id and d.test_mode = e.test_mode and d.next_attempt_at >= r.from_at and ${isDue})
        limit ${Math.ceil(freeUnproven / 2)} for update of e skip locked
      ) p
      where e.partner_id = p.partner_id and e.test_mode = p.test_mode
      returning e.*, 1 as room, 0 as held, false as proven, p.from_at
    ), ready as (
      select e.*, coalesce(known.room, ${window}::int) as room, coalesce(known.held, 0) as held,
        coalesce(known.proven, e.failures = 0 and e.last_success_at > now() - ${provenForMs} * interval '1 ms', false)
          as proven, first.next_attempt_at as from_at
      from webhook_endpoints e join receivers r using (partner_id, test_mode)
        left join json_to_recordset(${JSON.stringify(rooms)}::json)
          as known (partner_id uuid, test_mode boolean, held int, room int, proven boolean) using (partner_id, test_mode)
        cross join lateral (
          select d.next_attempt_at from webhook_deliveries d
          where d.partner_id = e.partner_id and d.test_mode = e.test_mode and d.next_attempt_at >= r.from_at and ${isDue}
          order by d.next_attempt_at limit 1) first
      where e.failures < ${probeAfterFailures} and coalesce(known.room, 1) > 0 and ${takesEvents}
      union all
      select * from probing
    ), open as (
      select r.*, case
          when r.proven then least(r.room, greatest(1, ${free}::int / count(*) over ()))
          else least(r.room, ${freeUnproven}, greatest(1, ${freeUnproven}::int / count(*) over (partition by r.proven)))
        end as fair
      from ready r
    ), due as (
      select o.partner_id, o.test_mode, o.proven, o.failures as failed, o.held + d.nth as turn, d.id, first.*
      from open o cross join lateral (
        select free.id, row_number() over (order by free.next_attempt_at) as nth
        from (
          select d.id, d.next_attempt_at from webhook_deliveries d
          where d.partner_id = o.partner_id and d.test_mode = o.test_mode and d.next_attempt_at >= o.from_at and ${isDue}
          order by d.next_attempt_at limit o.fair for update skip locked) free
      ) d left join lateral (
        select o.url, o.secret, o.pending_secret, o.pending_since, o.failures, o.failing_since, o.last_success_at,
          o.disabled_reason, case when o.failures >= ${probeAfterFailures} then o.probe_at::text end as probe
        where d.nth = 1) first on true
    ), chosen as (
      select ranked.*
      from (select due.*, row_number() over (partition by proven order by turn, failed desc) as place from due) ranked
      where ranked.proven or ranked.place <= ${freeUnproven}
      order by ranked.turn, ranked.failed desc limit ${free}
    )
    ${
      findsFrontier
        ? sql`, claimed as (${leasing(sql, lease)}), frontier as (${frontierFound(sql)})
      select * from claimed full join frontier on false`
        : leasing(sql, lease)
    }`;
  const isClaimed = (row: ClaimedRow | FrontierRow) => row.id !== null;
  const found = rows.find((row) => !isClaimed(row)) as FrontierRow | undefined;
  const frontier = found?.since && found.overdue ? { since: found.since, overdue: found.overdue } : null;
  return { claimed: withEndpoints(rows.filter(isClaimed) as ClaimedRow[], lease), frontier };
}

/** The statement that leases the deliveries of the query `chosen`. */
const leasing = (sql: Sql, lease: string): Fragment => sql`
    update webhook_deliveries d set lease = ${lease}, lease_until = now() + ${leaseMs} * interval '1 ms'
    from chosen c
    where d.partner_id = c.partner_id and d.test_mode = c.test_mode and d.id = c.id
    returning d.partner_id, d.test_mode, d.id, d.request_id, d.event, d.body, d.attempts,
      case when c.url is not null then d.lease_until end as lease_until, c.url, c.secret, c.pending_secret, c.pending_since,
      c.failures, c.failing_since, c.last_success_at, c.disabled_reason, c.probe, c.proven`;

/**
 * Whether these keys suffice to sign for an endpoint `e`: while a secret is pending, signatures are made with both, and
 * once it has taken over, with it alone. It is a `case` because the planner expects that to be true for half of the
 * rows. Of the plain comparison it would expect that hardly any endpoint passes.
 */
function canSign(sql: Sql, keyIds: readonly string[]): Fragment {
  const isHeld = (secret: Fragment) => sql`${keyIdIn(sql, secret)} = any(${keyIds}::text[])`;
  const [isOldHeld, isNewHeld] = [isHeld(sql`e.secret`), isHeld(sql`e.pending_secret`)];
  return sql`case when e.pending_secret is null then ${isOldHeld}
    when e.pending_since <= now() - ${activateAfterMs} * interval '1 ms' then ${isNewHeld}
    else ${isOldHeld} and ${isNewHeld} end`;
}

/** The endpoint's columns are null in all rows but that of its first delivery. */
type ClaimedRow = Omit<ClaimedDelivery, 'lease' | 'endpoint'> & {
  [key in keyof ClaimedEndpoint]: ClaimedEndpoint[key] | null;
};

type FrontierRow = { id: null; since: string | null; overdue: string | null };

function withEndpoints(rows: ClaimedRow[], lease: string): ClaimedDelivery[] {
  const endpoints = new Map<string, ClaimedEndpoint>();
  for (const row of rows) {
    if (row.url === null) continue;
    const { url, secret, pending_secret, pending_since, probe, lease_until, proven } = row as ClaimedEndpoint;
    const { failures, failing_since, last_success_at, disabled_reason } = row as ClaimedEndpoint;
    endpoints.set(endpointKey(row), {
      ...{ url, secret, pending_secret, pending_since, probe, lease_until, proven },
      ...{ failures, failing_since, last_success_at, disabled_reason },
    });
  }
  return rows.map((row) => {
    const { partner_id, test_mode, id, request_id, event, body, attempts } = row;
    const endpoint = endpoints.get(endpointKey(row));
    if (!endpoint) throw new Error(`delivery ${id} was claimed without its endpoint`);
    return { partner_id, test_mode, id, request_id, event, body, attempts, lease, endpoint };
  });
}

/** One attempt, as it is recorded. */
export type AttemptRecord = {
  partner_id: string;
  test_mode: boolean;
  delivery_id: string;
  lease: string;
  attempt_id: string;
  url: string;
  started_at: string;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  state: Next['state'];
  wait_ms: number;
};

/**
 * Records attempts and, if the lease is still valid, the new state of their deliveries. If the lease was lost meanwhile
 * (it expired, or a replay began a new round), only the attempt is recorded. Only waiting deliveries have a lease; a
 * condition on their state would mislead the planner to the index of due deliveries. The columns are sent as arrays, of
 * which only the headers are JSON: one JSON object per attempt took half as long again to read.
 */
export async function recordAttempts(sql: Sql | Tx, attempts: AttemptRecord[]): Promise<void> {
  const all = <T>(of: (attempt: AttemptRecord) => T) => attempts.map(of);
  const plain = (of: (attempt: AttemptRecord) => string | number | boolean | null) => plainArray(all(of));
  await sql`
    with made as materialized (
      select * from rows from (
        unnest(${plain((a) => a.partner_id)}::uuid[], ${plain((a) => a.test_mode)}::boolean[],
          ${plain((a) => a.delivery_id)}::uuid[], ${plain((a) => a.lease)}::uuid[], ${plain((a) => a.attempt_id)}::uuid[],
          ${all((a) => a.url)}::text[], ${plain((a) => a.started_at)}::timestamptz[],
          ${plain((a) => a.duration_ms)}::int[], ${plain((a) => a.status_code)}::int[], ${plain((a) => a.error)}::text[],
          ${all((a) => a.response_body)}::text[], ${plain((a) => a.state)}::text[],
          ${plain((a) => a.wait_ms)}::double precision[]),
        json_array_elements(${JSON.stringify(all((a) => a.request_headers))}::json),
        json_array_elements(${JSON.stringify(all((a) => a.response_headers))}::json)
      ) as a (partner_id, test_mode, delivery_id, lease, attempt_id, url, started_at, duration_ms, status_code, error,
        response_body, state, wait_ms, request_headers, response_headers)
    ), logged as (
      insert into webhook_attempts (partner_id, test_mode, delivery_id, id, url, started_at, duration_ms, status_code,
        error, request_headers, response_headers, response_body)
      select partner_id, test_mode, delivery_id, attempt_id, url, started_at, duration_ms, status_code, error,
        request_headers, case when json_typeof(response_headers) <> 'null' then response_headers end, response_body
      from made
    )
    update webhook_deliveries d set state = made.state, attempts = d.attempts + 1,
      next_attempt_at = now() + made.wait_ms * interval '1 ms', lease = null, lease_until = null,
      delivered_at = case when made.state = 'delivered' then now() end
    from made
    where d.partner_id = made.partner_id and d.test_mode = made.test_mode and d.id = made.delivery_id
      and d.lease = made.lease`;
}

/** Releases leases whose attempts were aborted, so that they are due again at once. */
export async function releaseLeases(sql: Sql, claimed: ClaimedDelivery[]): Promise<void> {
  const rows = claimed.map(({ partner_id, test_mode, id, lease }) => ({ partner_id, test_mode, id, lease }));
  await sql`
    update webhook_deliveries d set lease = null, lease_until = null
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (partner_id uuid, test_mode boolean, id uuid, lease uuid)
    where d.partner_id = r.partner_id and d.test_mode = r.test_mode and d.id = r.id and d.lease = r.lease`;
}
