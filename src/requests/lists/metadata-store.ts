import type { Scope, Sql } from '../../db/connection.ts';

/** A scope with requests whose metadata is not indexed yet: those after `from`, at most up to `last`. */
export type Behind = { partner_id: string; test_mode: boolean; from: Date | null; last: Date };

/** Scopes that are behind, the longest first. A lookup over all partners. */
export function selectBehind(sql: Sql, limit: number): Promise<Behind[]> {
  return sql<Behind[]>`
    select c.partner_id, c.test_mode, i.up_to as from, c.last_at as last
    from partner_clocks c left join metadata_indexed i using (partner_id, test_mode)
    where c.last_at > coalesce(i.up_to, '-infinity')
    order by i.up_to nulls first, c.partner_id, c.test_mode limit ${limit}`;
}

/**
 * Indexes the metadata of the next requests of a scope, oldest first. Their order never changes behind its clock, so
 * none is missed.
 *
 * @returns how many requests were read
 */
export async function indexNext(
  sql: Sql,
  { partnerId, testMode }: Scope,
  behind: Behind,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ read: number }[]>`
    with part as materialized (
      select id, created_at, metadata from requests
      where partner_id = ${partnerId} and test_mode = ${testMode} and created_at <= ${behind.last}
        and created_at > coalesce(${behind.from}::timestamptz, '-infinity')
      order by created_at limit ${limit}
    ), indexed as (
      insert into metadata_values (partner_id, test_mode, token, request_id)
      select distinct ${partnerId}::uuid, ${testMode}::boolean,
        metadata_token(${partnerId}, ${testMode}, lower(e.value)), part.id
      from part cross join lateral json_each_text(part.metadata) e
      on conflict do nothing
    ), reached as (
      select case when count(*) = ${limit} then max(created_at) else ${behind.last}::timestamptz end as up_to from part
    ), moved as (
      insert into metadata_indexed as i (partner_id, test_mode, up_to)
      select ${partnerId}::uuid, ${testMode}::boolean, up_to from reached
      on conflict (partner_id, test_mode) do update set up_to = greatest(i.up_to, excluded.up_to)
    )
    select count(*)::int as read from part`;
  return row?.read ?? 0;
}
