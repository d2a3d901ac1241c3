import type { Config } from '../config.ts';
import { decrypt, encrypt } from '../lib/encrypt.ts';
import type { NewMail } from './outbox.ts';

/** What only the recipient is to read: it can hold links, codes and names. */
type Content = Required<Pick<NewMail, 'subject' | 'body' | 'html' | 'unsubscribeUrl'>>;
/** The columns that hold it: readable ones, or `sealed` with the subject beside it without its numbers. */
export type StoredContent = {
  subject: string;
  body: string | null;
  body_html: string | null;
  unsubscribe_url: string | null;
  sealed: Buffer | null;
};

/** Codes and amounts: whoever looks after mails needs none of them. */
const numbers = /\p{Nd}[\p{Nd}\s.,]*\p{Nd}|\p{Nd}/gu;

/** A subject as those may read it who look after mails. */
export const withoutNumbers = (subject: string) => subject.replace(numbers, '•••');

/** A mail as it is stored: encrypted, in the sandbox readable, since nobody else shows it there. */
export function storedContent(
  { sandbox, secretKeys }: Pick<Config, 'sandbox' | 'secretKeys'>,
  { subject, body, html = null, unsubscribeUrl = null }: NewMail,
): StoredContent {
  if (sandbox) return { subject, body, body_html: html, unsubscribe_url: unsubscribeUrl, sealed: null };
  const sealed = encrypt(secretKeys, JSON.stringify({ subject, body, html, unsubscribeUrl } satisfies Content));
  return { subject: withoutNumbers(subject), body: null, body_html: null, unsubscribe_url: null, sealed };
}

/**
 * The other way round.
 *
 * @throws Error when the key it was encrypted with is gone
 */
export function decryptedContent({ secretKeys }: Pick<Config, 'secretKeys'>, row: StoredContent): Content {
  if (row.sealed !== null) return JSON.parse(decrypt(secretKeys, row.sealed));
  return { subject: row.subject, body: row.body ?? '', html: row.body_html, unsubscribeUrl: row.unsubscribe_url };
}
