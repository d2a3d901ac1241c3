import type { MailBranding } from '../mail/layout.ts';
import { writeNotice } from '../mail/notice.ts';
import type { NewMail } from '../mail/outbox.ts';
import { houseBranding } from '../partners/branding.ts';
import { mailTexts } from '../texts/mails.ts';
import { signInTexts } from '../texts/sign-in.ts';
import type { Words } from '../ui/language.ts';

/** The name in mails that concern no partner. */
export const serviceName = houseBranding.name;

/** The mail with a requested sign-in link. */
export function linkMail(
  words: Words,
  branding: MailBranding,
  recipient: string,
  { place, link }: { place: string; link: string },
): NewMail {
  const { signInUser: t } = signInTexts(words);
  const mails = mailTexts(words);
  const texts = { subject: t.mailSubject, body: t.mailBody, button: mails.signIn };
  return { recipient, urgent: true, ...writeNotice({ words, branding, ...texts, values: { place }, links: { link } }) };
}

/** The mail of an invitation. */
export function invitationMail(
  words: Words,
  branding: MailBranding,
  recipient: string,
  { place, ...links }: { place: string; link: string; signIn: string },
): NewMail {
  const { signInUser: t } = signInTexts(words);
  const mails = mailTexts(words);
  const texts = { subject: t.inviteSubject, body: t.inviteBody, button: mails.signIn };
  return { recipient, urgent: true, ...writeNotice({ words, branding, ...texts, values: { place }, links }) };
}

/** The mail that says that a passkey was added, or that one or all were removed. */
export function passkeyMail(
  words: Words,
  branding: MailBranding,
  recipient: string,
  what: 'added' | 'removed',
  place: string,
): NewMail {
  return {
    recipient,
    ...writeNotice({ words, branding, ...signInTexts(words).passkey.mails[what], values: { place } }),
  };
}
