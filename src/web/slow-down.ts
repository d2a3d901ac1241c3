import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { html, raw } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { type Language, type Words, wordsFor } from '../ui/language.ts';

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto;padding:0 1rem}h1{font-size:1.25rem}';
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`;
const written = new Map<Language, string>();

/**
 * 429 for a client that opens pages too fast: a page rendered once per language, which costs almost nothing. It names
 * the ten-second window of `limitPages`.
 */
export function sendSlowDown(reply: FastifyReply): FastifyReply {
  const words = wordsFor(reply.request);
  const text = written.get(words.language) ?? write(words);
  written.set(words.language, text);
  return reply
    .code(429)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-robots-tag': 'noindex',
    })
    .send(text);
}

function write(words: Words): string {
  const { errors } = commonTexts(words);
  return html`
    <!doctype html>
    <html lang="${words.language}" dir="${words.direction}">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>${errors.slowDown}</title>
        <link rel="icon" href="data:,">
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        <main>
          <h1>${errors.slowDown}</h1>
          <p>${errors.slowDownRest}</p>
        </main>
      </body>
    </html>
  `.text;
}
