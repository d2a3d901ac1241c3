import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { type Html, html, raw } from '../lib/html.ts';

/** Small enough to travel inside each page: one request shows everything. */
const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8')
  .replace(/\n\s*/g, '')
  .replaceAll(': ', ':')
  .replaceAll(' {', '{');
const styleHash = createHash('sha256').update(style).digest('base64');

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'; ` +
    "base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

export type Page = {
  title: string;
  /** Shown above everything else when nothing on this page is real money. */
  testMode: boolean;
  body: Html;
};

/** A whole HTML document: one column of 440 px. */
export function layout(page: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<link rel="icon" href="data:,">
${raw(`<style>${style}</style>`)}
</head>
<body>
${page.testMode && html`<p class="banner" role="note"><strong>Test mode.</strong> No real money moves on this page.</p>`}
<main class="column">
${page.body}
</main>
</body>
</html>
`.text;
}

/** Answers with a page: never stored, never framed, no script or style but our own. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply.code(status).headers(pageHeaders).send(layout(page));
}
