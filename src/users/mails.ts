import type { NewMail } from '../mail/outbox.ts';
import { fill, type Words } from '../ui/language.ts';

/** How a place is called whose host belongs to no partner. */
export const serviceName = 'Quittance';

/** The mail with a link that somebody asked for. */
export function linkMail(words: Words, recipient: string, values: { place: string; link: string }): NewMail {
  const { mailSubject, mailBody } = words.t.signInUser;
  return { recipient, subject: fill(mailSubject, values), body: fill(mailBody, values), urgent: true };
}

/** The mail of an invitation. */
export function invitationMail(
  words: Words,
  recipient: string,
  values: { place: string; link: string; signIn: string },
): NewMail {
  const { inviteSubject, inviteBody } = words.t.signInUser;
  return { recipient, subject: fill(inviteSubject, values), body: fill(inviteBody, values), urgent: true };
}

/** The mail that says that a passkey was added, or that one or all were taken away. */
export function passkeyMail(words: Words, recipient: string, what: 'added' | 'removed', place: string): NewMail {
  const { subject, body } = words.t.passkey.mails[what];
  return { recipient, subject: fill(subject, { place }), body: fill(body, { place }) };
}
