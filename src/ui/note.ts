import { type Html, html } from '../lib/html.ts';
import { fill, fillHtml, type Words } from './language.ts';
import { type MailLook, mailButton, mailColours, mailFrame, oneLine } from './mail-frame.ts';

/** A mail of a few sentences, as text and as HTML. */
export type Note = {
  words: Words;
  look: MailLook;
  /** Texts with `{placeholders}`. Paragraphs of the body stand apart by an empty line. */
  subject: string;
  body: string;
  values: Record<string, string | number>;
  /** Addresses of ours, by their placeholders. One that is a paragraph by itself becomes a button that says `button`. */
  links?: Record<string, string>;
  button?: string;
};

const longCode = 12;

/** Writes a note: what goes into the outbox, but for whom it is. */
export function writeNote({ words, look, subject, body, values, links = {}, button = '' }: Note) {
  const all = { ...values, ...links };
  const title = oneLine(fill(subject, all));
  const alone = (name: string): Html =>
    links[name] === undefined
      ? standingOut(String(all[name]))
      : html`${mailButton(look, links[name], button)}<p dir="ltr" style="margin:0 0 16px;font-size:12px;line-height:1.4;color:${mailColours.quiet};word-break:break-all">${links[name]}</p>`;
  const anchors = Object.entries(links).map(
    ([name, url]) => [name, html`<a href="${url}" style="color:inherit;word-break:break-all">${url}</a>`] as const,
  );
  const shown = { ...asTexts(values), ...Object.fromEntries(anchors) };
  const paragraphs = body
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => {
      const name = /^\{(\w+)\}$/.exec(paragraph)?.[1];
      if (name !== undefined) return alone(name);
      return html`<p style="margin:0 0 16px;white-space:pre-line;overflow-wrap:anywhere">${fillHtml(paragraph, shown)}</p>`;
    });
  const inside = html`${paragraphs}`;
  return {
    subject: title,
    body: `${fill(body, all).trim()}\n`,
    html: mailFrame(words, look, { title, heading: title, inside, below: null }),
  };
}

const asTexts = (values: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

/** What is read off or compared: a code large, an address in a face in which digits cannot be mistaken. */
function standingOut(text: string): Html {
  const size = text.length <= longCode ? '28px;letter-spacing:0.1em' : '14px';
  return html`<p dir="ltr" style="margin:0 0 16px;padding:12px;background:#f3f3f1;border-radius:6px;text-align:center;font-family:ui-monospace,Menlo,Consolas,monospace;word-break:break-all;font-size:${size}">${text}</p>`;
}
