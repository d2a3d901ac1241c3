import type { Database } from '../db/connection.ts';
import { assignment, identifiers } from '../db/sql.ts';
import type { Logo, LogoType } from './logo.ts';
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
  email: string | null;
  /** `#rrggbb` as the partner entered it; pages show it adjusted for contrast. */
  accent: string | null;
  logo_type: LogoType | null;
  logo_hash: string | null;
};

/** Every column except the logo's bytes, which only its own route needs. */
const partnerColumns = Object.keys({
  id: true,
  slug: true,
  name: true,
  currency: true,
  allowed_expiry_minutes: true,
  default_expiry_minutes: true,
  disabled_at: true,
  created_at: true,
  email: true,
  accent: true,
  logo_type: true,
  logo_hash: true,
} satisfies Record<keyof Partner, true>);

/** Null when the slug is taken. */
export async function insertPartner(db: Database, id: string, partner: NewPartner): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`
    insert into partners (id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes, email)
    values (${id}, ${partner.slug}, ${partner.name}, ${partner.currency}, ${partner.allowedExpiryMinutes},
      ${partner.defaultExpiryMinutes}, ${partner.email})
    on conflict (slug) do nothing returning ${identifiers(...partnerColumns)}`;
  return row ?? null;
}

export async function selectPartner(db: Database, slug: string): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`select ${identifiers(...partnerColumns)} from partners where slug = ${slug}`;
  return row ?? null;
}

/** A partner, locked until the transaction ends; null when there is none. */
export async function lockPartner(db: Database, slug: string): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`
    select ${identifiers(...partnerColumns)} from partners where slug = ${slug} for no key update`;
  return row ?? null;
}

/** The settings that a partner's users and operators edit. */
export type Settings = Pick<
  Partner,
  'name' | 'currency' | 'allowed_expiry_minutes' | 'default_expiry_minutes' | 'email'
>;

/** Changes a partner's settings; absent ones stay. Does nothing when no partner has this slug. */
export async function updateSettings(db: Database, slug: string, settings: Partial<Settings>): Promise<void> {
  await db.sql`update partners set ${assignment(settings)} where slug = ${slug}`;
}

/**
 * Switches a partner off or on.
 *
 * @returns the partner as it is now; `turned` is false if the switch was already set this way. Null when there is none
 */
export async function updateDisabled(
  db: Database,
  slug: string,
  disabled: boolean,
): Promise<{ partner: Partner; turned: boolean } | null> {
  const { sql } = db;
  const before = sql`select id, disabled_at is not null as disabled from partners where slug = ${slug} for update`;
  const [row] = await sql<(Partner & { before: boolean })[]>`
    with before as (${before}), turned as (
      update partners p set disabled_at = case when ${disabled} then coalesce(p.disabled_at, now()) end
      from before where p.id = before.id returning p.*)
    select ${identifiers(...partnerColumns)}, (select disabled from before) as before from turned`;
  if (!row) return null;
  const { before: was, ...partner } = row;
  return { partner, turned: was !== disabled };
}

export async function updateEmail(db: Database, slug: string, email: string | null): Promise<Partner | null> {
  const [row] = await db.sql<Partner[]>`
    update partners set email = ${email} where slug = ${slug} returning ${identifiers(...partnerColumns)}`;
  return row ?? null;
}

/** Changes to a partner's branding; absent fields stay, null removes. */
export type BrandingUpdate = { name?: string; accent?: string | null; logo?: Logo | null };

/** Changes a partner's branding in one statement; null when no partner has this slug. */
export async function updateBranding(
  db: Database,
  slug: string,
  { logo, ...rest }: BrandingUpdate,
): Promise<Partner | null> {
  const none = { logo: null, logo_type: null, logo_hash: null };
  const changes = {
    ...rest,
    ...(logo && { logo: logo.bytes, logo_type: logo.type, logo_hash: logo.hash }),
    ...(logo === null && none),
  };
  const [row] = await db.sql<Partner[]>`
    update partners set ${assignment(changes)} where slug = ${slug} returning ${identifiers(...partnerColumns)}`;
  return row ?? null;
}

export type BrandingRow = Pick<Partner, 'slug' | 'name' | 'accent' | 'logo_hash'>;

export async function selectBranding(db: Database, partnerId: string): Promise<BrandingRow | null> {
  const [row] = await db.sql<BrandingRow[]>`select slug, name, accent, logo_hash from partners where id = ${partnerId}`;
  return row ?? null;
}

/** A partner's logo by slug; null when there is no such partner or it has no logo. */
export async function selectLogo(db: Database, slug: string): Promise<Logo | null> {
  const [row] = await db.sql<Logo[]>`
    select logo as bytes, logo_type as type, logo_hash as hash from partners where slug = ${slug} and logo is not null`;
  return row ?? null;
}
