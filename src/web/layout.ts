import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Html, html, raw } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { type Branding, houseName } from '../ui/branding.ts';
import { chosenLanguage, type Language, languageCookie, languageName, languages, type Words } from '../ui/language.ts';
import { type IslandName, islandParts, islandPath } from './assets.ts';
import { iconPath } from './icon.ts';
import { linkWith, readQuery } from './query.ts';

/** Small enough to be part of each page, so that one request is enough to show it. */
const readStyle = (name: string) =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .replace(/\n\s*/g, '')
    .replaceAll(': ', ':')
    .replaceAll(' {', '{');
const style = readStyle('../ui/style.css');
/** The same, with the styles that only wide pages need. */
const wideStyle = style + readStyle('../ui/shell.css');
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const [styleHash, wideStyleHash] = [hashOf(style), hashOf(wideStyle)];

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether live mode has no real money either, because it uses the sandbox's local chain. */
    hasPlayMoney: boolean;
  }
}

export type Page = {
  title: string;
  /** Whose page it is, for the title; null if the title names the owner already. By default, the partner's name. */
  whose?: string | null | undefined;
  words: Words;
  /** Whether it is about test or live money; null for neither. If the money is not real, the page begins with that. */
  testMode: boolean | null;
  body: Html;
  /** The partner's name and accent colour. */
  branding?: Branding | undefined;
  /** Browser code that improves the page. */
  island?: IslandName | undefined;
  /** An origin to which browser code may connect, beside this site. */
  connectTo?: string | undefined;
  /** Address of this page, for the links of the language switch; without it there is no switch. */
  path?: string | undefined;
  /** The navigation before a wide page; without it, the page is one narrow column. */
  frame?: { before: Html; wide: true } | undefined;
  /** Without script, `path` is loaded again after this many seconds: the response to a form has another address. */
  refreshSeconds?: number | undefined;
};

/** What a page depends on beside its own content. `query`: of its address, kept when the language is switched. */
type Surroundings = { hasPlayMoney: boolean; query: Record<string, string> };

/** A whole HTML document: one column of 440 px, or a frame. */
function layout(page: Page, nonce: string, { hasPlayMoney, query }: Surroundings): string {
  const { words, island } = page;
  const { common } = commonTexts(words);
  const banner = page.testMode ? common.testMode : page.testMode === false && hasPlayMoney ? common.sandbox : null;
  return html`
    <!doctype html>
    <html lang="${words.language}" dir="${words.direction}" data-locale="${words.locale}">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${tabTitle(page)}</title>
        <link rel="icon" href="${iconPath}" type="image/svg+xml">
        ${raw(`<style>${page.frame ? wideStyle : style}</style>`)}
        ${page.branding?.accentStyle && raw(`<style>${page.branding.accentStyle}</style>`)}
        ${island && page.refreshSeconds !== undefined && refreshIfIslandFails(page.refreshSeconds, nonce)}
        ${island && islandParts(island).map((path) => html`<link rel="modulepreload" nonce="${nonce}" href="${path}">`)}
        ${island && html`<script type="module" nonce="${nonce}" src="${islandPath(island)}"></script>`}
        ${
          page.refreshSeconds !== undefined &&
          html`<noscript><meta http-equiv="refresh" content="${page.refreshSeconds};url=${page.path}"></noscript>`
        }
      </head>
      <body${page.frame && html` class="framed"`}>
        <a class="skip" href="#main">${common.skip}</a>
        ${banner !== null && testBanner(banner, common.testModeRest)}
        ${page.frame?.before}
        <main id="main" tabindex="-1" class="${page.frame ? 'wide' : 'column'}">${page.body}</main>
        ${page.path !== undefined && languageSwitch(words, page.path, query)}
      </body>
    </html>
  `.text;
}

/**
 * On a bad connection the browser code may not load, although script is switched on: the page would wait for ever for
 * what it promises to show. It is loaded again then, unless the server cannot be reached or somebody types.
 */
function refreshIfIslandFails(seconds: number, nonce: string): Html {
  const again = `fetch(location.href,{method:'HEAD'}).then(()=>{
document.activeElement.matches('input')||location.replace(location.pathname)},()=>{})`;
  const watch = `addEventListener('error',({target})=>{
target.type==='module'&&setInterval(()=>{${again}},${seconds * 1000})},true)`;
  return raw(`<script nonce="${nonce}">${watch.replaceAll('\n', '')}</script>`);
}

/** A landmark with a name, for screen readers that move from landmark to landmark. */
const testBanner = (name: string, rest: string): Html => html`
  <section class="banner" aria-labelledby="money"><strong id="money">${name}</strong> ${rest}</section>
`;

/** The title of the tab: the page's title and its owner, such as `Requests · Acme`. */
function tabTitle({ title, whose, branding }: Page): string {
  const owner = whose === undefined ? (branding?.name ?? houseName) : whose;
  return owner === null || owner === title ? title : `${title} · ${owner}`;
}

/** The switch keeps filters and the page of a list, but not the notice of what a form has done. */
function languageSwitch(words: Words, path: string, query: Record<string, string>): Html {
  const linkTo = (lang: Language) => linkWith(path, query, { lang, done: null });
  return html`
    <nav class="languages" aria-label="${commonTexts(words).common.language}">
      ${languages.map((language) =>
        language === words.language
          ? html`<span aria-current="true" lang="${language}">${languageName(language)}</span>`
          : html`
            <a href="${linkTo(language)}" lang="${language}" hreflang="${language}">${languageName(language)}</a>
          `,
      )}
    </nav>
  `;
}

/** Responds with a page that cannot be framed and uses only our scripts and styles. Keeps other headers. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const own = page.frame ? wideStyleHash : styleHash;
  const styles = page.branding?.accentStyle ? `${own} ${hashOf(page.branding.accentStyle)}` : own;
  const connections = page.connectTo ? `'self' ${page.connectTo}` : "'self'";
  const scripts = page.island ? ` script-src 'nonce-${nonce}' 'strict-dynamic'; connect-src ${connections};` : '';
  reply.code(status).headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      `default-src 'none'; style-src ${styles};${scripts} img-src 'self' data:; form-action 'self'; ` +
      "base-uri 'none'; frame-ancestors 'none'",
    'x-robots-tag': 'noindex',
  });
  const chosen = chosenLanguage(reply.request.query);
  if (chosen) reply.header('set-cookie', `${languageCookie}=${chosen}; Path=/; Max-Age=31536000; SameSite=Lax`);
  const { hasPlayMoney } = reply.server;
  return sendCompressed(reply, layout(page, nonce, { hasPlayMoney, query: queryOf(reply.request, page) }));
}

/**
 * The query of a page's address. Empty for the response to a form, whose page has another address, and for pages that
 * strangers open, so that a link cannot put anything on them.
 */
function queryOf({ method, query }: FastifyRequest, { frame }: Page): Record<string, string> {
  return frame && method === 'GET' ? readQuery(query, Object.keys(query ?? {})) : {};
}

/** Compresses a page if the client accepts gzip. Pages are small, so this is done synchronously. */
function sendCompressed(reply: FastifyReply, text: string): FastifyReply {
  const varies = reply.getHeader('vary');
  reply.header('vary', varies ? `${varies}, accept-encoding` : 'accept-encoding');
  if (!/\bgzip\b/.test(String(reply.request.headers['accept-encoding'] ?? ''))) return reply.send(text);
  return reply.header('content-encoding', 'gzip').send(gzipSync(text));
}
