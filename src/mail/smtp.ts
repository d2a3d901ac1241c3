import type { Transporter } from 'nodemailer';
import type { MailConfig } from '../config.ts';
import { isOneAddress } from '../lib/text/email.ts';
import type { MailTransport } from './transport.ts';

const connectMs = 10_000;
const silenceMs = 20_000;

/** This recipient was refused. Other mails can still be sent. */
export class RecipientRefused extends Error {}

/**
 * Replies to RCPT TO that concern every recipient: the server closes, wants a sign-in, does not relay for this node, or
 * refuses by its own state or policy (RFC 3463: 5.3 and 5.7). Temporary policies such as greylisting concern one.
 */
const aboutEverybody = /^(?:421|530|535|538)\b|^4\d\d[ -]4\.3\.|^5\d\d[ -]5\.[37]\.|\brelay/i;

/** A failure that nodemailer reports: the command that the server refused, and its reply. */
type Refused = Error & { command?: string; response?: string };

/** The reply may quote the recipient's address, which anybody can choose. */
const isOneRecipients = ({ command, response = '' }: Refused) =>
  command === 'RCPT TO' && !aboutEverybody.test(response.replace(/\S*@\S*/g, ''));

/**
 * The error without the recipient's address, which a server's reply quotes: it would go into the log and an alarm, and
 * stay there once the customer's data was erased. nodemailer also keeps it in fields of the error.
 */
function anonymous(error: Refused, from: string): Error {
  const message = error.message.replace(/[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g, (address) =>
    from.toLowerCase().includes(address.toLowerCase()) ? address : '[address]',
  );
  return isOneRecipients(error) ? new RecipientRefused(message) : new Error(message);
}

/** With these headers, mail programs show their own unsubscribe button (RFC 8058). */
const oneClick = (url: string) => ({
  'list-unsubscribe': `<${url}>`,
  'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
});

/** Sends mails through an SMTP server, each over its own connection. A password is never sent unencrypted. */
export function smtpTransport({ smtpUrl, from }: MailConfig): MailTransport {
  const url = new URL(smtpUrl);
  const auth = url.username
    ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
    : undefined;
  const secure = url.protocol === 'smtps:';
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: auth !== undefined && !secure,
    ...(auth && { auth }),
    dnsTimeout: connectMs,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  // Loaded with the first mail, because it takes 20 MB of memory.
  let opened: Promise<Transporter> | undefined;
  const domain = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
  return async ({ id, recipient, subject, body, html, unsubscribeUrl }, signal) => {
    if (!isOneAddress(recipient)) throw new RecipientRefused('the recipient is not one e-mail address');
    opened ??= import('nodemailer').then(({ createTransport }) => createTransport(options));
    const sending = (await opened).sendMail({
      from,
      to: recipient,
      subject,
      text: body,
      ...(html && { html }),
      // The same at each attempt, so that a duplicate can be recognised if the server's answer was lost.
      messageId: `<${id}@${domain}>`,
      headers: { 'auto-submitted': 'auto-generated', ...(unsubscribeUrl && oneClick(unsubscribeUrl)) },
      signal,
    });
    await sending.catch((error: Refused) => {
      throw anonymous(error, from);
    });
  };
}
