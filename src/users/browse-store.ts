import type { Sql } from '../db/connection.ts';
import type { User } from './store.ts';

/** What of all people is wanted; what is absent is not asked. `partner` is a slug, or `operators`. */
export type UserFilter = { search?: string; partner?: string; disabled?: boolean };
export type ListedUser = User & { partner_slug: string | null; partner_name: string | null };

/** People of all partners and operators, by their address, from after one on. */
export function selectAllUsers(
  sql: Sql,
  { search, partner, disabled }: UserFilter,
  after: { email: string; id: string } | null,
  limit: number,
): Promise<ListedUser[]> {
  const part = `%${search?.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  return sql<ListedUser[]>`
    select u.*, p.slug as partner_slug, p.name as partner_name from users u left join partners p on p.id = u.partner_id
    where true
      ${search === undefined ? sql`` : sql`and u.email like ${part}`}
      ${partner === undefined ? sql`` : partner === 'operators' ? sql`and u.partner_id is null` : sql`and p.slug = ${partner}`}
      ${disabled === undefined ? sql`` : sql`and (u.disabled_at is not null) = ${disabled}`}
      ${after === null ? sql`` : sql`and (u.email, u.id) > (${after.email}, ${after.id}::uuid)`}
    order by u.email, u.id limit ${limit}`;
}

/** A person of any team, by its id. */
export async function selectUser(sql: Sql, id: string): Promise<ListedUser | null> {
  const [row] = await sql<ListedUser[]>`
    select u.*, p.slug as partner_slug, p.name as partner_name from users u left join partners p on p.id = u.partner_id
    where u.id = ${id}`;
  return row ?? null;
}
