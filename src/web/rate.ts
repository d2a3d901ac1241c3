import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { allOf, instant, rateOf } from '../ui/formats.ts';
import { fill, type Words } from '../ui/language.ts';

/** The sources' own names. */
const names: Readonly<Record<string, string>> = {
  coinbase: 'Coinbase',
  kraken: 'Kraken',
  coingecko: 'CoinGecko',
  bitstamp: 'Bitstamp',
};

type Rated = { rate: string; fiat_code: string; rate_source: string | null };

/** A request's rate, and below it its source and its time, which is that of the request. */
export function rateWithSource(words: Words, row: Rated, at: Date): Html {
  const source = row.rate_source === null ? null : sourceText(words, row.rate_source);
  return html`
    ${rateOf(words, row)}
    <p class="quiet">${source !== null && `${source} · `}${instant(words, at)}</p>
  `;
}

/** @param source `override`, `fixed`, or names of sources separated by commas */
function sourceText(words: Words, source: string): string {
  const { rateSource: t } = commonTexts(words).common;
  if (source === 'override') return t.override;
  if (source === 'fixed') return t.fixed;
  const sources = source.split(', ').map((name) => names[name] ?? name);
  return fill(t.market, { sources: allOf(words, sources) });
}
