import { OnboardingRefusal } from './onboarding-refusal.ts';
import type { OnboardingDetails } from './onboarding-store.ts';

/** The fields of the details form, with the longest text each takes, in code points. */
export const detailLimits = { display_name: 120, business_name: 120, country: 2, phone: 32, website: 200 } as const;

const emailPattern = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** What a form field holds: one line, trimmed; null when it was left empty. */
function line(value: string | undefined): string | null {
  const text = value?.replace(/\p{Cc}+/gu, ' ').trim();
  return text ? text : null;
}

/**
 * Reads the details form.
 *
 * @throws OnboardingRefusal details_invalid with the faults by field
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
  const faults: Record<string, string> = {};
  for (const [name, limit] of Object.entries(detailLimits)) {
    const value = details[name as keyof OnboardingDetails];
    if (value !== null && [...value].length > limit) faults[name] = `At most ${limit} characters.`;
  }
  if (details.country !== null && !/^[A-Z]{2}$/.test(details.country)) {
    faults.country = 'Two letters, for example DE or US.';
  }
  if (email !== null && (!emailPattern.test(email) || [...email].length > 254)) {
    faults.email = 'This does not look like an e-mail address.';
  }
  if (Object.keys(faults).length > 0) throw new OnboardingRefusal('details_invalid', faults);
  return { details, email };
}
