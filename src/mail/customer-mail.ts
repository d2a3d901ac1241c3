import { withOwnDirection } from '../lib/text/direction.ts';
import { type Html, html } from '../lib/text/html.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { unlinked } from '../lib/text/unlinked.ts';
import { instant, instantText } from '../ui/formats.ts';
import type { Words } from '../ui/language.ts';
import { type MailBranding, mailButton, mailColours, mailLayout } from './layout.ts';
import type { NewMail } from './outbox.ts';

/** One line of the table in a customer's mail; readers of HTML see `shown` instead of `value`. */
export type CustomerMailFact = [name: string, value: string, shown?: Html];

/** A line that tells a time: the text with its zone, the HTML for programs too. */
export const timeFact = (words: Words, name: string, at: Date): CustomerMailFact => [
  name,
  instantText(words, at),
  instant(words, at),
];

/** The content of a mail to a customer, as text, and as HTML with the partner's branding. */
export type CustomerMail = {
  words: Words;
  branding: MailBranding;
  subject: string;
  heading: string;
  /** Shown first if no real money is involved. */
  test: string | null;
  facts: CustomerMailFact[];
  /** The one action: its address, the label of its button, and the sentence that contains the address. */
  link: { url: string; label: string; sentence: string };
  /** Why the reader receives this mail. */
  why: string;
  /** Where the reader stops such mails; null if they requested the mail themselves. */
  stop: { url: string; label: string } | null;
};

/** Whatever a mail program may begin a new line at. */
const lineBreaks = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/**
 * Writes a mail to a customer, as text and as HTML. Mail programs also offer the link that stops such mails. Only our
 * own addresses are links: a merchant chooses its name and the purpose, and may name anybody as its customer.
 */
export function writeCustomerMail(recipient: string, given: CustomerMail): NewMail {
  const mail: CustomerMail = {
    ...given,
    heading: unlinked(given.heading),
    facts: given.facts.map(([name, value, ...shown]) => [name, unlinked(value), ...shown]),
    why: unlinked(given.why),
  };
  return {
    recipient,
    subject: mail.subject,
    body: textOf(mail),
    html: htmlOf(mail),
    unsubscribeUrl: mail.stop?.url ?? null,
  };
}

/**
 * The mail as plain text. Line breaks in a name or memo cannot make a part of it look like a sentence or line of ours.
 */
function textOf({ heading, test, facts, link, why, stop }: CustomerMail): string {
  const lines = facts.map(([name, value]) => `${name}: ${withOwnDirection(value).replace(lineBreaks, '\n  ')}`);
  const parts = [
    `${oneLine(heading)}.`,
    test,
    lines.join('\n'),
    link.sentence,
    oneLine(why),
    stop && `${stop.label}\n${stop.url}`,
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

/** The same mail as HTML, with the partner's branding. */
function htmlOf({ words, branding, subject, heading, test, facts, link, why, stop }: CustomerMail): string {
  const { quiet, line } = mailColours;
  const rtl = words.direction === 'rtl';
  const [end, side] = rtl ? ['left', '8px 16px 8px 0'] : ['right', '8px 0 8px 16px'];
  const rows = facts.map(
    ([name, value, shown]) =>
      html`
        <tr>
          <th
            scope="row"
            style="width:34%;padding:8px 0;border-top:1px solid ${line};font-weight:400;color:${quiet};text-align:start;vertical-align:top"
          >
            ${name}
          </th>
          <td
            style="padding:${side};border-top:1px solid ${line};text-align:${end};word-break:break-word;white-space:pre-line"
          >
            <bdi>${shown ?? value}</bdi>
          </td>
        </tr>
      `,
  );
  const inside = html`
    ${test !== null && html`<p style="margin:16px 0 0"><strong>${test}</strong></p>`}
    <table role="presentation" style="width:100%;margin:16px 0 0;border-collapse:collapse;font-size:14px">
      ${rows}
    </table>
    ${mailButton(branding, link.url, link.label)}
  `;
  return mailLayout(words, branding, {
    title: subject,
    heading,
    inside,
    below: html`${why}${stop && html` <a href="${stop.url}" style="color:${quiet}">${stop.label}</a>`}`,
  });
}
