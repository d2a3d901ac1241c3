import type { Database } from '../db/connection.ts';
import { updateSettings } from './browse-store.ts';
import { type NewPartner, partnerFaults } from './rules.ts';

/**
 * Sets a partner's name, currency, expiry values and e-mail address. Requests and merchants that exist keep what they were made with.
 *
 * @returns false when there is no such partner
 * @throws Error with all faults as sentences
 */
export async function setPartnerSettings(db: Database, wanted: NewPartner): Promise<boolean> {
  const faults = partnerFaults(wanted);
  if (faults.length > 0) throw new Error(faults.join(' '));
  return updateSettings(db.sql, wanted.slug, {
    name: wanted.name,
    currency: wanted.currency,
    allowed_expiry_minutes: wanted.allowedExpiryMinutes,
    default_expiry_minutes: wanted.defaultExpiryMinutes,
    email: wanted.email,
  });
}
