import type { Sql } from '../db/connection.ts';

/** A merchant as an operator sees it. */
export type ListedMerchant = {
  id: string;
  partner_id: string;
  partner_slug: string;
  test_mode: boolean;
  name: string | null;
  email: string | null;
  wallet_address: string | null;
  onboarded_at: Date | null;
  terms_version: string | null;
  terms_accepted_at: Date | null;
  disabled_by_partner: boolean;
  disabled_by_operator: boolean;
  created_at: Date;
};

/** What of all merchants is wanted; what is absent is not asked. */
export type AllMerchantsFilter = {
  /** A number or wallet, whole; or a part of a name or e-mail address. */
  search?: string;
  /** A slug. */
  partner?: string;
  testMode?: boolean;
  /** Who has disabled it; `none`: nobody. */
  disabled?: 'partner' | 'operator' | 'none';
  onboarded?: boolean;
  termsVersion?: string;
};

/** Merchants of all partners, the newest first. */
export function selectAllMerchants(
  sql: Sql,
  filter: AllMerchantsFilter,
  after: { at: Date; id: string } | null,
  limit: number,
): Promise<ListedMerchant[]> {
  const { search, partner, testMode, disabled, onboarded, termsVersion } = filter;
  return sql<ListedMerchant[]>`
    select m.id, m.partner_id, p.slug as partner_slug, m.test_mode, coalesce(m.business_name, m.display_name) as name,
      m.email, m.wallet_address, m.onboarded_at, m.terms_version, m.terms_accepted_at, m.disabled_by_partner,
      m.disabled_by_operator, m.created_at
    from merchants m join partners p on p.id = m.partner_id
    where true ${search === undefined ? sql`` : sql`and ${matches(sql, search)}`}
      ${partner === undefined ? sql`` : sql`and m.partner_id = (select id from partners where slug = ${partner})`}
      ${testMode === undefined ? sql`` : sql`and m.test_mode = ${testMode}`}
      ${disabled === 'partner' ? sql`and m.disabled_by_partner` : sql``}
      ${disabled === 'operator' ? sql`and m.disabled_by_operator` : sql``}
      ${disabled === 'none' ? sql`and not m.disabled_by_partner and not m.disabled_by_operator` : sql``}
      ${onboarded === undefined ? sql`` : sql`and (m.onboarded_at is not null) = ${onboarded}`}
      ${termsVersion === undefined ? sql`` : sql`and m.terms_version = ${termsVersion}`}
      ${after === null ? sql`` : sql`and (m.created_at, m.id) < (${after.at}, ${after.id}::uuid)`}
    order by m.created_at desc, m.id desc limit ${limit}`;
}

/** A number or a wallet is found by its index; a part of a text is looked for in all. */
function matches(sql: Sql, search: string) {
  const text = search.toLowerCase();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return sql`m.id = ${text}`;
  if (/^0x[0-9a-f]{40}$/.test(text)) {
    return sql`m.id in (select account_id from wallets where address = ${text})`;
  }
  const part = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`(lower(m.business_name) like ${part} or lower(m.display_name) like ${part} or lower(m.email) like ${part})`;
}

/** How many merchants have accepted each version of the terms, and when the last one did. */
export function selectTermsVersions(sql: Sql): Promise<{ version: string; merchants: number; last_at: Date }[]> {
  return sql<{ version: string; merchants: number; last_at: Date }[]>`
    select terms_version as version, count(*)::int as merchants, max(terms_accepted_at) as last_at from merchants
    where terms_version is not null group by terms_version order by last_at desc limit 100`;
}
