import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type PayPageRow, updateRequestLanguage } from './page-store.ts';
import { updateOpened } from './store.ts';

/** Chat and social unfurlers, mail scanners and crawlers: they fetch a link before, or instead of, a person. */
const previewAgents = new RegExp(
  [
    '^whatsapp',
    'slackbot',
    'slack-imgproxy',
    'twitterbot',
    'facebookexternalhit',
    'facebookcatalog',
    'facebot',
    'meta-external',
    'discordbot',
    'telegrambot',
    'linkedinbot',
    'applebot',
    'skypeuripreview',
    'microsoftpreview',
    'teamsbot',
    'bingpreview',
    'bingbot',
    'googlebot',
    'google-read-aloud',
    'google-pagerenderer',
    'googleother',
    'google-safety',
    'feedfetcher',
    'googleimageproxy',
    'yandex\\w{0,20}bot',
    'baiduspider',
    'duckduckbot',
    'pinterestbot',
    'pinterest/0',
    'redditbot',
    'embedly',
    'iframely',
    '^viber',
    'line-poker',
    'linespider',
    'kakaotalk-scrap',
    'vkshare',
    'mastodon',
    'bluesky',
    'snap url preview',
    '^tumblr',
    'xing-contenttabreceiver',
    'zoombot',
    'mattermost-bot',
    'rocket.chat',
    'synapse',
    'quora link preview',
    'link ?preview',
    'url ?preview',
    'unfurl',
    'bot/\\d',
    '\\bbot\\b',
    'crawler',
    'spider',
  ].join('|'),
  'i',
);

/**
 * Decides whether a request for the pay page means that the customer opened it: a GET by a person. HEAD, prefetches,
 * link previews and, where the client sends `Sec-Fetch-*`, anything but a document navigation see the page without
 * opening it.
 */
export function opensRequest(method: string, headers: IncomingHttpHeaders): boolean {
  if (method !== 'GET') return false;
  if (isPrefetch(headers)) return false;
  if (previewAgents.test(headers['user-agent'] ?? '')) return false;
  const mode = headers['sec-fetch-mode'];
  const dest = headers['sec-fetch-dest'];
  return (mode === undefined || mode === 'navigate') && (dest === undefined || dest === 'document');
}

function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  return purposes.flat().some((purpose) => purpose !== undefined && /prefetch|prerender|preview/i.test(purpose));
}

/** Marks a request as opened by its customer. Does nothing if it is no longer waiting for that. */
export async function openRequest(ctx: Context, scope: Scope, id: string): Promise<void> {
  await ctx.db.scoped(scope, (tx) => updateOpened(tx, scope, id));
}

/** Stores the language in which the customer reads the pay page, if a receipt will be sent and it is not known yet. */
export async function storeLanguage(ctx: Context, scope: Scope, row: PayPageRow, language: string): Promise<void> {
  const isSent = row.customer_email !== null || row.customer_phone !== null;
  if (!isSent || row.proof_status === 'verified' || row.customer_language === language) return;
  await ctx.db.scoped(scope, (tx) => updateRequestLanguage(tx, scope, row.id, language));
}
