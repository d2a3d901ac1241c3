import type { Scope, Tx } from '../db/connection.ts';
import { assignment } from '../db/sql.ts';
import type { MerchantRow } from './store.ts';

/** What a merchant can change about itself in the dashboard. */
export type Profile = Pick<
  MerchantRow,
  | 'display_name'
  | 'business_name'
  | 'country'
  | 'phone'
  | 'website'
  | 'instagram'
  | 'industry'
  | 'email'
  | 'display_currency'
>;

/** The current profile, locked until the transaction ends; null if there is no such merchant. */
export async function selectProfile(tx: Tx, scope: Scope, accountId: string): Promise<Profile | null> {
  const [row] = await tx<Profile[]>`
    select display_name, business_name, country, phone, website, instagram, industry, email, display_currency
    from merchants
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${accountId} for update`;
  return row ?? null;
}

/** Stores a profile. A new e-mail address has not been checked, so it clears `email_checked_at`. */
export async function updateProfile(tx: Tx, scope: Scope, accountId: string, profile: Profile): Promise<void> {
  await tx`
    update merchants set ${assignment(profile)},
      email_checked_at = case when email is not distinct from ${profile.email} then email_checked_at end
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${accountId}`;
}
