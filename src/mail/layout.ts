import { type Html, html } from '../lib/text/html.ts';
import { unlinked } from '../lib/text/unlinked.ts';
import type { Words } from '../ui/language.ts';

/** Colours of `style.css`, repeated because mail programs support no variables, and many no dark mode. */
const [paper, ink, faces] = ['#fbfaf8', '#1a2029', "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"];
export const mailColours = { quiet: '#5d646f', line: '#dcdee2' };

/** The branding of mails, of a partner or our own: `logoUrl` is public, null without a logo; colours are `#rrggbb`. */
export type MailBranding = { name: string; logoUrl: string | null; accent: string; onAccent: string };

/** The button for the one action of a mail. */
export function mailButton({ accent, onAccent }: MailBranding, url: string, label: string): Html {
  return html`
    <p style="margin:24px 0 0">
      <a
        href="${url}"
        style="display:inline-block;background:${accent};color:${onAccent};padding:12px 20px;border-radius:10px;text-decoration:none;font-weight:600"
      >
        ${label}
      </a>
    </p>
  `;
}

/**
 * The HTML of a mail: a branded card with a heading, and small print below. It loads only the logo. Language and
 * direction are also set on an inner element, because mail programs drop the outer ones.
 */
export function mailLayout(
  words: Words,
  branding: MailBranding,
  texts: { title: string; heading: Html | string; inside: Html; below: Html | null },
): string {
  const { language, direction } = words;
  const { quiet, line } = mailColours;
  return html`
    <!doctype html>
    <html lang="${language}" dir="${direction}">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light">
        <title>${texts.title}</title>
      </head>
      <body style="margin:0;background:${paper};color:${ink};font:16px/1.5 ${faces}">
        <div
          lang="${language}"
          dir="${direction}"
          style="max-width:440px;margin:0 auto;padding:24px 16px;text-align:start${language === 'ja' && ';word-break:auto-phrase'}"
        >
          <p style="margin:0 0 16px;font-weight:600">
            ${
              branding.logoUrl === null
                ? unlinked(branding.name)
                : html`<img src="${branding.logoUrl}" alt="${branding.name}" height="40">`
            }
          </p>
          <div
            style="background:#ffffff;border:1px solid ${line};border-top:4px solid ${branding.accent};border-radius:10px;padding:24px"
          >
            <h1 style="margin:0;font-size:20px;line-height:1.3;overflow-wrap:anywhere">${texts.heading}</h1>
            ${texts.inside}
          </div>
          ${texts.below !== null && html`<p style="margin:16px 0 0;font-size:12px;color:${quiet}">${texts.below}</p>`}
        </div>
      </body>
    </html>
  `.text;
}
