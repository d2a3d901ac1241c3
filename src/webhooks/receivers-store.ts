import type { Sql } from '../db/connection.ts';
import { lateCommitMs } from '../db/due.ts';
import type { Fragment } from '../db/sql.ts';

/**
 * Where a claim found the waiting deliveries, so that the next claim can begin there. Only the endpoints in `overdue`
 * had a delivery that was due before `since`. Only the statements below write and read it. As text, its times keep
 * their microseconds.
 */
export type Frontier = { since: string; overdue: string };

/** If more endpoints than this are overdue, passing them on would take as long as finding them again. */
const maxOverdue = 1_000;

/**
 * The query `receivers`, after `with recursive`: the partners and modes with waiting deliveries, and when the first of
 * these is due (`from_at`). Each step looks up the next one in the index, so the cost does not grow with deliveries.
 */
export const receivers = (sql: Sql): Fragment => sql`
  receivers as (
    (select partner_id, test_mode, next_attempt_at as from_at from webhook_deliveries
      where state = 'waiting' order by partner_id, test_mode, next_attempt_at limit 1)
    union all
    select next.* from receivers r cross join lateral (
      select d.partner_id, d.test_mode, d.next_attempt_at from webhook_deliveries d
      where d.state = 'waiting' and (d.partner_id, d.test_mode) > (r.partner_id, r.test_mode)
      order by d.partner_id, d.test_mode, d.next_attempt_at limit 1) next
  )`;

/**
 * As `receivers`, for endpoints that take events, from where an earlier claim found them on. While a snapshot is held
 * elsewhere (`pg_dump`), index entries of delivered events cannot be removed, and `receivers` reads all of them before
 * it finds a waiting one. Here none is read that is older than a waiting one, or than some seconds.
 */
export const receiversFrom = (sql: Sql, { since, overdue }: Frontier): Fragment => sql`
  receivers as (
    select e.partner_id, e.test_mode, first.from_at
    from webhook_endpoints e
      left join json_to_recordset(${overdue}::json) as o (partner_id uuid, test_mode boolean, from_at timestamptz)
        using (partner_id, test_mode)
      cross join lateral (
        select d.next_attempt_at as from_at from webhook_deliveries d
        where d.partner_id = e.partner_id and d.test_mode = e.test_mode and d.state = 'waiting'
          and d.next_attempt_at >= coalesce(o.from_at, ${since}::timestamptz)
        order by d.next_attempt_at limit 1) first
    where e.url is not null and e.disabled_at is null
  )`;

/** A query with one row: the frontier that `receivers` found, with nulls if it is too long. */
export const frontierFound = (sql: Sql): Fragment => sql`
  select case when count(*) <= ${maxOverdue} then (now() - ${lateCommitMs} * interval '1 ms')::text end as since,
    case when count(*) <= ${maxOverdue} then coalesce(json_agg(
      json_build_object('partner_id', partner_id, 'test_mode', test_mode, 'from_at', r.from_at)), '[]')::text end as overdue
  from receivers r join webhook_endpoints e using (partner_id, test_mode)
  where e.url is not null and e.disabled_at is null and r.from_at < now() - ${lateCommitMs} * interval '1 ms'`;
