import { isOneAddress } from '../lib/text/email.ts';
import { firstVisible } from '../lib/text/visible.ts';

/** All possible values of `expiry_minutes`; a partner allows a subset. */
export const expiryMinutes = [5, 10, 15, 30, 60, 180, 1440, 4320, 10_080, 43_200] as const;

/** A partner's default in `pos` mode, unless set otherwise. */
export const defaultExpiryMinutes = 15;

const slugPattern = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** A text that could be a partner's slug. */
export function isSlug(text: string): boolean {
  return slugPattern.test(text);
}

/**
 * Host names that the service, its mail or its operator may need below the same domain, or that people would mistake
 * for the service's own. A partner's slug becomes such a name.
 */
const reservedSlugs: ReadonlySet<string> = new Set([
  'quittance',
  ...['www', 'web', 'api', 'admin', 'app', 'portal', 'dashboard', 'pay', 'checkout', 'onboard', 'login', 'auth', 'sso'],
  ...['mail', 'smtp', 'imap', 'pop', 'pop3', 'mx', 'webmail', 'email', 'autoconfig', 'autodiscover', 'mta-sts'],
  ...['static', 'assets', 'cdn', 'img', 'media', 'docs', 'help', 'support', 'status', 'blog', 'about', 'billing'],
  ...[
    'localhost',
    'local',
    'internal',
    'wpad',
    'isatap',
    'ns',
    'ns1',
    'ns2',
    'dns',
    'ftp',
    'ssh',
    'vpn',
    'proxy',
    'db',
  ],
  ...['root', 'system', 'security', 'abuse', 'hostmaster', 'postmaster', 'webmaster', 'metrics', 'staging', 'webhooks'],
]);

/** A slug that no new partner may have; an existing one keeps working. */
export function isReservedSlug(slug: string): boolean {
  return reservedSlugs.has(slug);
}

/** The longest name of a partner, in Unicode code points. */
export const maxPartnerName = 120;

/** Whether a partner can have this name: customers and merchants must see something of it. */
export function isPartnerName(name: string): boolean {
  return firstVisible(name) !== null && [...name].length <= maxPartnerName;
}

/** The message for a name that no partner can have. */
export const partnerNameRule = `The name must have 1 to ${maxPartnerName} characters, and not only invisible ones.`;

export type NewPartner = {
  slug: string;
  name: string;
  currency: string;
  allowedExpiryMinutes: number[];
  defaultExpiryMinutes: number;
  /** Whom to mail when the partner must act; null: nobody. */
  email: string | null;
};

/** A sentence when this is not an e-mail address; null, meaning no address, is valid. */
export function emailFault(email: string | null): string | null {
  return email === null || isOneAddress(email) ? null : `"${email}" is not an e-mail address.`;
}

/** The faults of a new partner, as sentences; none when it may be created. */
export function partnerFaults(partner: NewPartner): string[] {
  const faults: string[] = [];
  if (!isSlug(partner.slug)) {
    faults.push('The slug must be 1 to 40 lower-case letters, digits and hyphens, without a hyphen at either end.');
  }
  if (!isPartnerName(partner.name)) faults.push(partnerNameRule);
  const email = emailFault(partner.email);
  if (email) faults.push(email);
  const known: readonly number[] = expiryMinutes;
  if (
    partner.allowedExpiryMinutes.length === 0 ||
    !partner.allowedExpiryMinutes.every((value) => known.includes(value))
  ) {
    faults.push(`Expiry values must be among ${expiryMinutes.join(', ')} minutes.`);
  }
  if (!partner.allowedExpiryMinutes.includes(partner.defaultExpiryMinutes)) {
    faults.push('The default expiry must be one of the allowed values.');
  }
  return faults;
}
