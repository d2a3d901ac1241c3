import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { fillCount, type Words } from './language.ts';

/**
 * The note that a search did not look at everything.
 *
 * @param limit `newest`: only this many of the newest requests were searched; `matches`: the search ended after this
 *   many results; `partners`: only this many partners were searched
 */
export function searchLimit(
  words: Words,
  limit: { kind: 'newest' | 'matches' | 'partners'; count: number } | null,
): Html | null {
  if (!limit) return null;
  return html`<p class="quiet">${fillCount(words, commonTexts(words).search[limit.kind], limit.count)}</p>`;
}
