import { isOneAddress } from '../lib/text/email.ts';
import { oneLine } from '../lib/text/one-line.ts';
import type { OnboardingDetails } from './onboarding-state.ts';
import { type DetailFault, MerchantRefusal } from './refusal.ts';

/** The fields of the details form, with their maximum lengths in code points. */
export const detailLimits = { display_name: 120, business_name: 120, country: 2, phone: 32, website: 200 } as const;
/** The maximum lengths of a merchant's other fields, which onboarding does not ask for. */
export const furtherLimits = { instagram: 200, industry: 80 } as const;
export type DetailName = keyof typeof detailLimits;

/** The value of a form field on one line; null if it is empty. */
const line = (value: string | undefined): string | null => oneLine(value ?? '') || null;

/**
 * Reads the details form.
 *
 * @throws MerchantRefusal details_invalid with the faults by field
 */
export function readDetails(form: Record<string, string | undefined>): {
  details: OnboardingDetails;
  email: string | null;
} {
  const details: OnboardingDetails = {
    display_name: line(form.display_name),
    business_name: line(form.business_name),
    country: line(form.country)?.toUpperCase() ?? null,
    phone: line(form.phone),
    website: line(form.website),
  };
  const email = line(form.email);
  const faults: Record<string, DetailFault> = {};
  for (const [name, limit] of Object.entries(detailLimits)) {
    const value = details[name as DetailName];
    if (value !== null && [...value].length > limit) faults[name] = 'tooLong';
  }
  if (details.country !== null && !/^[A-Z]{2}$/.test(details.country)) faults.country = 'notACountry';
  if (email !== null && !(isOneAddress(email) && /\.[^.]/.test(email.slice(email.indexOf('@')))))
    faults.email = 'notAnEmail';
  if (Object.keys(faults).length > 0) throw new MerchantRefusal('details_invalid', faults);
  return { details, email };
}
