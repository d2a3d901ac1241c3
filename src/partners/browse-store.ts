import type { Sql } from '../db/connection.ts';
import { containsPattern } from '../lib/text/like-pattern.ts';
import type { Partner } from './store.ts';

export type PartnerFilter = { search?: string; disabled?: boolean };
export type ListedPartner = Pick<
  Partner,
  | 'id'
  | 'slug'
  | 'name'
  | 'currency'
  | 'allowed_expiry_minutes'
  | 'default_expiry_minutes'
  | 'disabled_at'
  | 'created_at'
>;

/** Partners by slug, from after a given one. A search matches part of the slug or name. */
export function selectPartners(
  sql: Sql,
  { search, disabled }: PartnerFilter,
  after: string | null,
  limit: number,
): Promise<ListedPartner[]> {
  const part = containsPattern((search ?? '').toLowerCase());
  return sql<ListedPartner[]>`
    select id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes, disabled_at, created_at
    from partners where true
      ${search === undefined ? sql`` : sql`and (slug like ${part} or lower(name) like ${part})`}
      ${disabled === undefined ? sql`` : sql`and (disabled_at is not null) = ${disabled}`}
      ${after === null ? sql`` : sql`and slug > ${after}`}
    order by slug limit ${limit}`;
}
