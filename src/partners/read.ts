import type { Database } from '../db/connection.ts';
import { identifiers } from '../db/sql.ts';
import { type Partner, partnerColumns } from './store.ts';

export async function readPartner(db: Database, slug: string): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`select ${identifiers(...partnerColumns)} from partners where slug = ${slug}`;
  return row ?? null;
}

/** As `readPartner`, locked until the transaction ends. */
export async function lockPartner(db: Database, slug: string): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`
    select ${identifiers(...partnerColumns)} from partners where slug = ${slug} for no key update`;
  return row ?? null;
}
