import type { Sql } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';

/** An object with its name; null: it has none. */
export type NamedRow = { id: string; name: string | null };
type Ids = { ids: readonly string[]; partnerId: string | null };

/** Names of merchants, of one partner or of all. */
export function selectMerchantNames(sql: Sql, { ids, partnerId }: Ids): Promise<NamedRow[]> {
  return sql<NamedRow[]>`
    select m.id, ${shownName(sql)} as name from merchants m
    where id = any(${ids}::uuid[]) and (${partnerId}::uuid is null or partner_id = ${partnerId})`;
}

/** Names of keys, or what can be seen of those that have none. */
export function selectKeyNames(sql: Sql, { ids, partnerId }: Ids): Promise<NamedRow[]> {
  return sql<NamedRow[]>`
    select id, coalesce(name, hint) as name from api_keys
    where id = any(${ids}::uuid[]) and (${partnerId}::uuid is null or partner_id = ${partnerId})`;
}

/** E-mail addresses of users; operators are users of no partner. */
export function selectUserNames(sql: Sql, { ids, partnerId }: Ids): Promise<NamedRow[]> {
  return sql<NamedRow[]>`
    select id, email as name from users
    where id = any(${ids}::uuid[]) and (${partnerId}::uuid is null or partner_id = ${partnerId})`;
}

/** Names and slugs of partners, by identifier or by slug. */
export function selectPartnerNames(
  sql: Sql,
  { ids, slugs, partnerId }: Ids & { slugs: readonly string[] },
): Promise<{ id: string; slug: string; name: string }[]> {
  return sql<{ id: string; slug: string; name: string }[]>`
    select id, slug, name from partners
    where (id = any(${ids}::uuid[]) or slug = any(${slugs}::text[]))
      and (${partnerId}::uuid is null or id = ${partnerId})`;
}
