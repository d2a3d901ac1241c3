import type { Sql, Tx } from '../db/connection.ts';
import { chooseSearchPlan } from '../db/search-plan.ts';
import { containsPattern } from '../lib/text/like-pattern.ts';
import type { User } from './store.ts';

/** A filter of all users; an absent field does not filter. `partner` is a slug, or `operators`. */
export type UserFilter = { search?: string; partner?: string; disabled?: boolean };
export type ListedUser = User & { partner_slug: string | null; partner_name: string | null };

/** Users of all partners and operators, by e-mail address, after a cursor. */
export async function selectAllUsers(
  tx: Tx,
  { search, partner, disabled }: UserFilter,
  after: { email: string; id: string } | null,
  limit: number,
): Promise<ListedUser[]> {
  const part = containsPattern((search ?? '').toLowerCase());
  const matches = tx`u.email like ${part}`;
  const rest = tx`true ${after === null ? tx`` : tx`and (u.email, u.id) > (${after.email}, ${after.id}::uuid)`}
    ${partner === undefined ? tx`` : partner === 'operators' ? tx`and u.partner_id is null` : tx`and u.partner_id = (select id from partners where slug = ${partner})`}`;
  const [, , rows] = await Promise.all([
    // The best plan depends on the search term.
    tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(),
    search !== undefined &&
      chooseSearchPlan(tx, tx`users u where ${rest} order by u.email, u.id`, matches, limit).execute(),
    tx<ListedUser[]>`
      select u.*, p.slug as partner_slug, p.name as partner_name from users u left join partners p on p.id = u.partner_id
      where ${rest} ${search === undefined ? tx`` : tx`and ${matches}`}
        ${disabled === undefined ? tx`` : tx`and (case when u.disabled_at is null then 0 else 1 end) = ${disabled ? 1 : 0}`}
      order by u.email, u.id limit ${limit}`.execute(),
  ]);
  return rows;
}

/** A user of any team, by id; null for an unknown id. */
export async function selectUser(sql: Sql, id: string): Promise<ListedUser | null> {
  const [row] = await sql<ListedUser[]>`
    select u.*, p.slug as partner_slug, p.name as partner_name from users u left join partners p on p.id = u.partner_id
    where u.id = ${id}`;
  return row ?? null;
}
