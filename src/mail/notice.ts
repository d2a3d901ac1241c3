import { type Html, html } from '../lib/text/html.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { unlinked } from '../lib/text/unlinked.ts';
import { fill, fillHtml, type Words } from '../ui/language.ts';
import { type MailBranding, mailButton, mailColours, mailLayout } from './layout.ts';

/** A mail of a few sentences, as text and as HTML. */
export type Notice = {
  words: Words;
  branding: MailBranding;
  /** Texts with `{placeholders}`. Empty lines separate the paragraphs of the body. */
  subject: string;
  body: string;
  values?: Record<string, string>;
  /** Values that are read out or compared. One that is a whole paragraph is emphasised. */
  figures?: Record<string, string>;
  /** Our own addresses. One that is a paragraph by itself becomes a button with the label `button`. */
  links?: Record<string, string>;
  button?: string;
};

/** Writes a notice: everything that the outbox needs except the recipient. */
export function writeNotice({
  words,
  branding,
  subject,
  body,
  values: given = {},
  figures = {},
  links = {},
  button = '',
}: Notice) {
  // A name with line breaks could pass for sentences of ours, and one that is an address for a link of ours.
  const values = mapped(given, (text) => unlinked(oneLine(text)));
  const all = { ...values, ...figures, ...links };
  const title = oneLine(fill(subject, { ...all, ...given }));
  const inSentence = {
    ...mapped({ ...values, ...figures }, (text) => html`<bdi>${text}</bdi>`),
    ...mapped(links, (url) => html`<a href="${url}" style="color:inherit;overflow-wrap:anywhere">${url}</a>`),
  };
  const alone = {
    ...mapped(figures, emphasised),
    ...mapped(links, (url) => html`${mailButton(branding, url, button)}${readable(url)}`),
  };
  const paragraphs = body
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => {
      const name = /^\{(\w+)\}$/.exec(paragraph)?.[1] ?? '';
      return (
        alone[name] ??
        html`
          <p style="margin:16px 0 0;white-space:pre-line;overflow-wrap:anywhere">${fillHtml(paragraph, inSentence)}</p>
        `
      );
    });
  const heading = fillHtml(subject, inSentence);
  return {
    subject: title,
    body: `${fill(body, all).trim()}\n`,
    html: mailLayout(words, branding, { title, heading, inside: html`${paragraphs}`, below: null }),
  };
}

const mapped = <T>(texts: Record<string, string>, to: (text: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, to(text)]));

/** Shows the URL of a button, for readers who want to check it or open it elsewhere. */
const readable = (url: string) =>
  html`
    <p dir="ltr" style="margin:12px 0 0;font-size:12px;line-height:1.4;color:${mailColours.quiet};word-break:break-all">
      ${url}
    </p>
  `;

const longCode = 12;

/** Makes codes large, and shows addresses in a typeface in which digits cannot be confused. */
function emphasised(text: string): Html {
  const size = text.length <= longCode ? 'text-align:center;font-size:28px;letter-spacing:0.1em' : 'font-size:14px';
  return html`
    <p
      dir="ltr"
      style="margin:16px 0 0;padding:12px;background:#f3f3f1;border-radius:6px;font-family:ui-monospace,Menlo,Consolas,monospace;word-break:break-all;${size}"
    >
      ${text}
    </p>
  `;
}
