import type { Config } from '../config.ts';
import { decrypt, encrypt } from '../lib/encrypt.ts';
import type { NewMail } from './outbox.ts';

/** The parts of a mail that only its recipient may read: they can contain links, codes and names. */
type Content = Required<Pick<NewMail, 'subject' | 'body' | 'html' | 'unsubscribeUrl'>>;
/**
 * The columns that store a mail: either readable ones, or `sealed` (encrypted) beside a subject with its numbers
 * masked.
 */
export type StoredContent = {
  subject: string;
  body: string | null;
  body_html: string | null;
  unsubscribe_url: string | null;
  sealed: Buffer | null;
};

/** Codes and amounts, which operators do not need to handle mails. */
const numbers = /\p{Nd}[\p{Nd}\s.,]*\p{Nd}|\p{Nd}/gu;

/** A subject as operators see it. */
export const withoutNumbers = (subject: string) => subject.replace(numbers, '•••');

/** A mail as it is stored: encrypted, but readable in the sandbox, whose mail pages show it. */
export function storedContent(
  { sandbox, secretKeys }: Pick<Config, 'sandbox' | 'secretKeys'>,
  { subject, body, html = null, unsubscribeUrl = null }: NewMail,
): StoredContent {
  if (sandbox) return { subject, body, body_html: html, unsubscribe_url: unsubscribeUrl, sealed: null };
  const sealed = encrypt(secretKeys, JSON.stringify({ subject, body, html, unsubscribeUrl } satisfies Content));
  return { subject: withoutNumbers(subject), body: null, body_html: null, unsubscribe_url: null, sealed };
}

/**
 * Reads the content of a stored mail.
 *
 * @throws Error if the key that encrypted it is missing, or the bytes were changed
 */
export function decryptedContent({ secretKeys }: Pick<Config, 'secretKeys'>, row: StoredContent): Content {
  if (row.sealed !== null) return JSON.parse(decrypt(secretKeys, row.sealed));
  return { subject: row.subject, body: row.body ?? '', html: row.body_html, unsubscribeUrl: row.unsubscribe_url };
}
