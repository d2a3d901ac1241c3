import type { Sql, Tx } from '../db/connection.ts';
import { chooseSearchPlan } from '../db/search-plan.ts';
import { shownName } from '../db/shown-name.ts';
import type { Fragment } from '../db/sql.ts';
import { unionBranches } from '../db/union-branches.ts';
import { isAddress, isUuid } from '../lib/ids.ts';
import { containsPattern } from '../lib/text/like-pattern.ts';
import { type MerchantStates, statesApart } from './in-states.ts';

/** A merchant as an operator sees it. */
export type ListedMerchant = {
  id: string;
  partner_id: string;
  partner_slug: string;
  partner_name: string;
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

/** Filters over all merchants; absent ones do not filter. */
export type AllMerchantsFilter = {
  /** A whole id or wallet, or a part of a name or e-mail address. */
  search?: string;
  /** The partner's slug. */
  partner?: string;
  testMode?: boolean;
  /** Who has disabled the merchant; `none`: nobody. */
  disabled?: 'partner' | 'operator' | 'none';
  onboarded?: boolean;
  termsVersion?: string;
};

/** Merchants of all partners, newest first. */
export async function selectAllMerchants(
  tx: Tx,
  filter: AllMerchantsFilter,
  after: { at: Date; id: string } | null,
  limit: number,
): Promise<ListedMerchant[]> {
  const { search, partner, termsVersion } = filter;
  const [home] =
    partner === undefined ? [] : await tx<{ id: string }[]>`select id from partners where slug = ${partner}`;
  if (partner !== undefined && !home) return [];
  const rest = after === null ? tx`true` : tx`(m.created_at, m.id) < (${after.at}, ${after.id}::uuid)`;
  const wanted = search === undefined ? tx`true` : matches(tx, search);
  const own = tx`${rest} and ${wanted}
    ${home ? tx`and m.partner_id = ${home.id}` : tx``}
    ${termsVersion === undefined ? tx`` : tx`and m.terms_version = ${termsVersion}`}`;
  const isWord = search !== undefined && !isUuid(search.toLowerCase()) && !isAddress(search.toLowerCase());
  const [, , rows] = await Promise.all([
    // The best plan depends on the searched text.
    tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(),
    isWord &&
      chooseSearchPlan(
        tx,
        tx`merchants m where ${rest} order by m.created_at desc, m.id desc`,
        wanted,
        limit,
      ).execute(),
    tx<ListedMerchant[]>`
      select m.id, m.partner_id, p.slug as partner_slug, p.name as partner_name, m.test_mode,
        ${shownName(tx)} as name,
        m.email, m.wallet_address, m.onboarded_at, m.terms_version, m.terms_accepted_at, m.disabled_by_partner,
        m.disabled_by_operator, m.created_at
      from (${unionBranches(tx, modesApart(tx, filter, own), tx`order by created_at desc, id desc limit ${limit}`)}) m
      join partners p on p.id = m.partner_id order by m.created_at desc, m.id desc`.execute(),
  ]);
  return rows;
}

/** Also reads each mode alone, because indexes begin with it, or with the partner and it. */
function modesApart(tx: Tx, filter: AllMerchantsFilter, own: Fragment) {
  const { partner, testMode, onboarded, disabled, termsVersion: terms } = filter;
  const states: MerchantStates = { ...(onboarded !== undefined && { onboarded }), ...(disabled && { disabled }) };
  const isAsked = onboarded !== undefined || disabled !== undefined;
  const isOfPartner = partner !== undefined && terms === undefined;
  if (!isAsked && testMode === undefined && !isOfPartner && terms === undefined) return statesApart(tx, states, own);
  const wanted: MerchantStates = isAsked || isOfPartner ? states : { disabled: 'any' };
  const modes = testMode === undefined ? [true, false] : [testMode];
  return modes.flatMap((mode) => statesApart(tx, wanted, tx`m.test_mode = ${mode} and ${own}`));
}

/** For a text that is too short for the index, only this many of the newest merchants are searched. */
const maxRead = 20_000;

/**
 * The condition for a whole id or wallet, or a part of a name or e-mail address. Its expression is that of the index.
 */
function matches(tx: Tx, search: string) {
  const text = search.toLowerCase();
  const [isNumber, isWallet]: boolean[] = [isUuid(text), isAddress(text)];
  if (isNumber) return tx`m.id = ${text}`;
  if (isWallet) return tx`m.id in (select account_id from wallets where address = ${text})`;
  return tx`lower(coalesce(m.business_name, '') || E'\n' || coalesce(m.display_name, '') || E'\n' || coalesce(m.email, ''))
      like ${containsPattern(text)}
    ${
      text.length < 3
        ? tx`and m.created_at >= coalesce(
            (select created_at from merchants order by created_at desc offset ${maxRead} limit 1), '-infinity')`
        : tx``
    }`;
}

/** How many merchants have accepted each version of the terms, and when the last one did so. */
export function selectTermsVersions(sql: Sql): Promise<{ version: string; merchants: number; last_at: Date }[]> {
  return sql<{ version: string; merchants: number; last_at: Date }[]>`
    select terms_version as version, count(*)::int as merchants, max(terms_accepted_at) as last_at from merchants
    where terms_version is not null group by terms_version order by last_at desc limit 100`;
}
