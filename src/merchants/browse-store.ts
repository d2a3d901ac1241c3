import type { Scope, Tx } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import type { MerchantRow } from './store.ts';

export const onboardingStates = ['incomplete', 'complete'] as const;
export const switches = ['partner', 'operator', 'none'] as const;

/** What of a scope's merchants is wanted; what is absent is not asked. */
export type MerchantBrowseFilter = {
  /** A number or wallet, whole; or a part of a name or e-mail address. */
  search?: string;
  onboarding?: (typeof onboardingStates)[number];
  /** Who has disabled the merchant. */
  disabled?: (typeof switches)[number];
};

/** `after`: id of the last merchant of the page before; anything else begins at the newest. */
export type MerchantPosition = { after: string | null; limit: number };

/** Merchants of a scope, newest first. A search reads at most the merchants of one partner. */
export function selectBrowsed(
  tx: Tx,
  scope: Scope,
  { search, onboarding, disabled }: MerchantBrowseFilter,
  { after, limit }: MerchantPosition,
): Promise<MerchantRow[]> {
  const { partnerId, testMode } = scope;
  const either = search === undefined ? tx`` : tx`and ${matches(tx, search)}`;
  return tx<MerchantRow[]>`
    select * from merchants
    where partner_id = ${partnerId} and test_mode = ${testMode} ${either}
      ${onboarding === undefined ? tx`` : tx`and (onboarded_at is not null) = ${onboarding === 'complete'}`}
      ${disabled === 'partner' ? tx`and disabled_by_partner` : tx``}
      ${disabled === 'operator' ? tx`and disabled_by_operator` : tx``}
      ${disabled === 'none' ? tx`and not disabled_by_partner and not disabled_by_operator` : tx``}
      ${isUuid(after) ? tx`and (created_at, id) < (select c.created_at, c.id from merchants c where c.partner_id = ${partnerId} and c.test_mode = ${testMode} and c.id = ${after})` : tx``}
    order by created_at desc, id desc limit ${limit}`;
}

function matches(tx: Tx, search: string) {
  const text = search.toLowerCase();
  const part = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return tx`(id::text = ${text} or wallet_address = ${text} or lower(business_name) like ${part}
    or lower(display_name) like ${part} or lower(email) like ${part})`;
}
