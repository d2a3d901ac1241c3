import type { Database } from '../db/connection.ts';
import { identifiers } from '../db/sql.ts';
import { type Partner, partnerColumns } from './store.ts';

export async function readPartner(db: Database, slug: string): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`select ${identifiers(...partnerColumns)} from partners where slug = ${slug}`;
  return row ?? null;
}

/** Switches a partner off or on; `turned` is false when it stood so already. Null when there is none. */
export async function setPartnerDisabled(
  db: Database,
  slug: string,
  disabled: boolean,
): Promise<{ partner: Partner; turned: boolean } | null> {
  const before = db.sql`select id, disabled_at is not null as disabled from partners where slug = ${slug} for update`;
  const [row] = await db.sql<(Partner & { before: boolean })[]>`
    with before as (${before}), turned as (
      update partners p set disabled_at = case when ${disabled} then coalesce(p.disabled_at, now()) end
      from before where p.id = before.id returning p.*)
    select ${identifiers(...partnerColumns)}, (select disabled from before) as before from turned`;
  if (!row) return null;
  const { before: was, ...partner } = row;
  return { partner, turned: was !== disabled };
}
