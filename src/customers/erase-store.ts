import type { Database, Scope, Tx } from '../db/connection.ts';

/**
 * The loop's lookup over all partners: all scopes with requests created before a time that were not visited yet. A
 * limit would favour the first partners, which soon have old requests again.
 */
export function selectClocks(db: Database, before: Date): Promise<{ partner_id: string; test_mode: boolean }[]> {
  return db.sql<{ partner_id: string; test_mode: boolean }[]>`
    select c.partner_id, c.test_mode from partner_clocks c left join erased_customers e using (partner_id, test_mode)
    where exists (select from requests r where r.partner_id = c.partner_id and r.test_mode = c.test_mode
      and r.created_at > coalesce(e.up_to, '-infinity') and r.created_at < ${before})
    order by c.partner_id, c.test_mode`;
}

/** The position up to which a scope was searched, locked; null if it never was. */
export async function lockErasedTo(tx: Tx, scope: Scope): Promise<Date | null> {
  const [row] = await tx<{ up_to: Date | null }[]>`
    insert into erased_customers as e (partner_id, test_mode, up_to)
    values (${scope.partnerId}, ${scope.testMode}, '-infinity')
    on conflict (partner_id, test_mode) do update set up_to = e.up_to
    returning case when isfinite(up_to) then up_to end as up_to`;
  return row?.up_to ?? null;
}

/** Stores up to which creation time a scope's old requests were visited. */
export async function updateErasedTo(tx: Tx, scope: Scope, upTo: Date): Promise<void> {
  await tx`
    update erased_customers set up_to = ${upTo} where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
}
