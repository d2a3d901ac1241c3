import type { Scope, Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { receivers } from './receivers-store.ts';
import { probeAfterFailures } from './rules.ts';

export type StuckDelivery = {
  id: string;
  partner_id: string;
  partner_slug: string;
  partner_name: string;
  test_mode: boolean;
  request_id: string;
  created_at: Date;
};

/** Events whose attempts are used up, over all partners, from after a given one. */
export function selectExhausted(
  sql: Sql,
  after: { scope: Scope; id: string } | null,
  limit: number,
): Promise<StuckDelivery[]> {
  const isAfter =
    after &&
    sql`and (d.partner_id, d.test_mode, d.created_at, d.id) > (
      select a.partner_id, a.test_mode, a.created_at, a.id from webhook_deliveries a
      where a.partner_id = ${after.scope.partnerId} and a.test_mode = ${after.scope.testMode} and a.id = ${after.id})`;
  return sql<StuckDelivery[]>`
    select d.id, d.partner_id, p.slug as partner_slug, p.name as partner_name, d.test_mode, d.request_id, d.created_at
    from webhook_deliveries d join partners p on p.id = d.partner_id
    where d.state = 'exhausted' ${isAfter ?? sql``}
    order by d.partner_id, d.test_mode, d.created_at, d.id limit ${limit}`;
}

export type DisabledEndpoint = {
  partner_id: string;
  partner_slug: string;
  partner_name: string;
  test_mode: boolean;
  url: string | null;
  disabled_at: Date;
  disabled_reason: string | null;
};

/** Disabled endpoints, over all partners: at most one per partner and mode. */
export function selectDisabled(sql: Sql, limit: number): Promise<DisabledEndpoint[]> {
  return sql<DisabledEndpoint[]>`
    select e.partner_id, p.slug as partner_slug, p.name as partner_name, e.test_mode, e.url, e.disabled_at, e.disabled_reason
    from webhook_endpoints e join partners p on p.id = e.partner_id
    where e.disabled_at is not null order by e.disabled_at desc, p.slug limit ${limit}`;
}

/** Deliveries that wait for an attempt, for `queueDepth`. */
export const waitingDeliveries = (sql: Sql): Fragment =>
  sql`select created_at as since from webhook_deliveries where state = 'waiting'`;

/** How many deliveries are due at endpoints that take them, counted up to `max`. */
export async function selectDueCount(sql: Sql, max: number): Promise<number> {
  const [row] = await sql<{ due: number }[]>`
    with recursive ${receivers(sql)}
    select count(*)::int as due from (
      select from receivers r join webhook_endpoints e using (partner_id, test_mode) cross join lateral (
        select from webhook_deliveries d
        where d.partner_id = r.partner_id and d.test_mode = r.test_mode and d.state = 'waiting'
          and d.next_attempt_at <= now() limit ${max}) due
      where e.url is not null and e.disabled_at is null and e.failures < ${probeAfterFailures} limit ${max}) counted`;
  return row?.due ?? 0;
}
