import { currencyExponent, toUsdcMicro } from '../../lib/money.ts';
import { usableRate } from '../../rates/quote.ts';
import type { PlanFactsRow } from './facts-store.ts';
import type { OfferedTerms } from './offer.ts';

/** The terms that the merchant can change while somebody reads them. */
const changeable = (facts: PlanFactsRow, { payee }: Pick<OfferedTerms, 'payee'>): string =>
  [facts.fiat_int, facts.fiat_code, facts.cap_fiat_int, facts.reserve_percent, payee].join(' ');

/** What a page shows of terms that can change, as text that browser code sends back when a wallet is to sign them. */
export const shownTerms = (facts: PlanFactsRow, terms: Pick<OfferedTerms, 'payee' | 'capMicro'>): string =>
  `${changeable(facts, terms)} ${terms.capMicro}`;

/**
 * The terms for somebody who has read `shown` on a page. A wallet shows numbers that few people can read, so nobody is
 * asked to sign more than the page said, although the merchant or the rate may have changed it since.
 *
 * @returns null if the plan or the merchant's wallet has changed, or if the cap that was shown is below today's price:
 *   then the page must be read again
 */
export function termsAsShown(facts: PlanFactsRow, terms: OfferedTerms, shown: string, now: Date): OfferedTerms | null {
  const [, text, cap = ''] = /^(.{1,200}) (\d{1,30})$/.exec(shown) ?? [];
  const rate = usableRate(facts.quote, now);
  if (text !== changeable(facts, terms) || rate === null) return null;
  const price = toUsdcMicro(BigInt(facts.fiat_int), currencyExponent(facts.fiat_code) ?? 2, rate);
  const capMicro = BigInt(cap) < terms.capMicro ? BigInt(cap) : terms.capMicro;
  return capMicro < price ? null : { ...terms, capMicro };
}
