import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { fillCount, type Words } from './language.ts';

/**
 * How far a search went that did not look at everything.
 *
 * @param limit `newest`: through so many of the newest requests; `most`: until so many were found;
 *   `partners`: through so many partners
 */
export function searchLimit(
  words: Words,
  limit: { kind: 'newest' | 'most' | 'partners'; count: number } | null,
): Html | null {
  if (!limit) return null;
  return html`<p class="quiet">${fillCount(words, commonTexts(words).search[limit.kind], limit.count)}</p>`;
}
