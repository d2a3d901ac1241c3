import type { Scope, Sql, Tx } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';

/** A plan whose charge has failed for long, through no fault of its partner or merchant. */
export type StuckPlan = {
  partner_slug: string;
  partner_name: string;
  test_mode: boolean;
  id: string;
  account_id: string;
  merchant_name: string | null;
  failure: 'rate_unavailable' | 'other';
  failed_at: Date;
};

/** Plans of all partners that have failed since before a time, the longest first. */
export function selectStuck(sql: Sql, before: Date, limit: number): Promise<StuckPlan[]> {
  return sql<StuckPlan[]>`
    select w.slug as partner_slug, w.name as partner_name, p.test_mode, p.id, p.account_id,
      ${shownName(sql)} as merchant_name, p.failure, p.failed_at
    from plans p
      join partners w on w.id = p.partner_id
      join merchants m on (m.partner_id, m.test_mode, m.id) = (p.partner_id, p.test_mode, p.account_id)
    where p.failure in ('rate_unavailable', 'other') and p.failed_at <= ${before}
    order by p.failed_at, p.id limit ${limit}`;
}

/** How many have failed since before a time for an unknown reason, counted up to `max`. */
export async function countUnexplained(sql: Sql, before: Date, max: number): Promise<number> {
  // The first condition is that of the index.
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from plans p where p.failure in ('rate_unavailable', 'other') and p.failure = 'other'
        and p.failed_at <= ${before} limit ${max}) unexplained`;
  return row?.count ?? 0;
}

/** Makes the charge of a failing plan due; false when it does not fail any more. */
export async function updateDue(tx: Tx, scope: Scope, id: string, now: Date): Promise<boolean> {
  const { count } = await tx`
    update plans p set due_at = ${now}
    where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode} and p.id = ${id}
      and p.state = 'active' and p.failure is not null`;
  return count === 1;
}
