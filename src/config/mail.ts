import type { MailConfig } from '../config.ts';
import { isMalformed } from './database.ts';

const senderPattern = /^(?:[^<>\r\n]+ <)?[^\s@<>,;]+@[^\s@<>,;]+>?$/;

/** Reads `SMTP_URL` and `MAIL_FROM`. Faults contain no password. Null: no server is configured. */
export function readMail(smtpUrl: string | undefined, from: string | undefined, faults: string[]): MailConfig | null {
  if (!smtpUrl) return null;
  const url = URL.parse(smtpUrl);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || !url.hostname || url.search || url.hash) {
    faults.push('SMTP_URL must look like smtps://user:password@host:port or smtp://…');
  }
  if (url && [url.username, url.password].some((part) => isMalformed.test(part)))
    faults.push('SMTP_URL has a % in its user or password that begins no percent-encoded character: write it as %25');
  if (!from) faults.push('MAIL_FROM is required with SMTP_URL: an address, or Name <address>');
  else if (!senderPattern.test(from) || from.includes('<') !== from.endsWith('>')) {
    faults.push('MAIL_FROM must be an address, or Name <address>');
  }
  return { smtpUrl, from: from ?? '' };
}
