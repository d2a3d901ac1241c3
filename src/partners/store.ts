import type { Database } from '../db/connection.ts';
import type { NewPartner } from './rules.ts';

export type Partner = {
  id: string;
  slug: string;
  name: string;
  currency: string;
  allowed_expiry_minutes: number[];
  default_expiry_minutes: number;
  disabled_at: Date | null;
  created_at: Date;
};

/** Null when the slug is taken. */
export async function insertPartner(db: Database, id: string, partner: NewPartner): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`
    insert into partners (id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes)
    values (${id}, ${partner.slug}, ${partner.name}, ${partner.currency}, ${partner.allowedExpiryMinutes},
      ${partner.defaultExpiryMinutes})
    on conflict (slug) do nothing returning *`;
  return row ?? null;
}

export async function selectPartner(db: Database, slug: string): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`select * from partners where slug = ${slug}`;
  return row ?? null;
}

export async function updateDisabled(db: Database, slug: string, disabled: boolean): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`
    update partners set disabled_at = case when ${disabled} then coalesce(disabled_at, now()) end
    where slug = ${slug} returning *`;
  return row ?? null;
}
