import type { Database } from '../db/connection.ts';
import { emailFault } from './rules.ts';
import { type Partner, updateEmail } from './store.ts';

/**
 * Sets the address a partner is told at when something needs their hand; null takes it away.
 *
 * @returns null when there is no such partner
 * @throws Error with a sentence when it is no e-mail address
 */
export async function setPartnerEmail(db: Database, slug: string, email: string | null): Promise<Partner | null> {
  const fault = emailFault(email);
  if (fault) throw new Error(fault);
  return updateEmail(db, slug, email);
}
