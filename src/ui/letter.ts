import { type Html, html } from '../lib/html.ts';
import type { Words } from './language.ts';

/** Colours of `style.css`: readers of mail know no variables, and many no dark mode. */
const paper = '#fbfaf8';
const ink = '#1a2029';
const quiet = '#5d646f';
const line = '#dcdee2';
const faces = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";

/** One line of a letter's table; `shown` is what readers of HTML see in place of the text. */
export type LetterFact = [name: string, value: string, shown?: Html];

/** What a mail to a customer says: the same as text, and as HTML in the partner's look. */
export type Letter = {
  words: Words;
  /** `logoUrl` is a public address, null without a logo; colours are `#rrggbb`. */
  look: { name: string; logoUrl: string | null; accent: string; onAccent: string };
  subject: string;
  heading: string;
  /** Said before all else where no real money is meant. */
  test: string | null;
  facts: LetterFact[];
  /** The one thing to do: its address, the words of its button, and the sentence that has the address in it. */
  link: { url: string; label: string; sentence: string };
  /** Why the reader is written to. */
  why: string;
};

/** A header holds one line, whatever somebody calls themselves. */
export const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

export function letterText({ heading, test, facts, link, why }: Letter): string {
  const lines = facts.map(([name, value]) => `${name}: ${value}`);
  const parts = [`${heading}.`, test, lines.join('\n'), link.sentence, why];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

/** Nothing of it is loaded but the logo. */
export function letterHtml({ words, look, subject, heading, test, facts, link, why }: Letter): string {
  const end = words.direction === 'rtl' ? 'left' : 'right';
  const rows = facts.map(
    ([name, value, shown]) =>
      html`<tr><th scope="row" style="padding:8px 0;border-top:1px solid ${line};font-weight:400;color:${quiet};text-align:start;vertical-align:top">${name}</th>
<td dir="auto" style="padding:8px 0 8px 16px;border-top:1px solid ${line};text-align:${end};word-break:break-word;white-space:pre-line">${shown ?? value}</td></tr>`,
  );
  return html`<!doctype html>
<html lang="${words.language}" dir="${words.direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${subject}</title></head>
<body style="margin:0;background:${paper};color:${ink};font:16px/1.5 ${faces}">
<div style="max-width:440px;margin:0 auto;padding:24px 16px">
${look.logoUrl !== null && html`<p style="margin:0 0 16px"><img src="${look.logoUrl}" alt="${look.name}" height="40"></p>`}
<div style="background:#ffffff;border:1px solid ${line};border-top:4px solid ${look.accent};border-radius:10px;padding:24px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${heading}</h1>
${test !== null && html`<p style="margin:0 0 16px"><strong>${test}</strong></p>`}
<table role="presentation" style="width:100%;border-collapse:collapse;font-size:14px">${rows}</table>
<p style="margin:24px 0 0"><a href="${link.url}" style="display:inline-block;background:${look.accent};color:${look.onAccent};padding:12px 20px;border-radius:10px;text-decoration:none;font-weight:600">${link.label}</a></p>
</div>
<p style="margin:16px 0 0;font-size:12px;color:${quiet}">${why}</p>
</div></body></html>`.text;
}
