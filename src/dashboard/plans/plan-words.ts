import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { PlanRow } from '../../plans/read.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, largeAmount, stateLine } from '../../ui/components.ts';
import { everyText } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import type { MerchantVisit } from '../route.ts';

/** The heading of a plan: its amount and rhythm. */
export function chargeHeading(
  words: Words,
  { fiat_int, fiat_code, every, period }: Pick<PlanRow, 'fiat_int' | 'fiat_code' | 'every' | 'period'>,
): Html {
  return html`
    ${largeAmount(formatFiat(BigInt(fiat_int), fiat_code, words.language))}
    <p>${everyText(words, every, period)}</p>
  `;
}

/** Says that plans wait because the merchant or the partner is disabled; null if neither is. */
export function waitingCard(words: Words, { merchant }: MerchantVisit): Html | null {
  const { plans } = dashboardTexts(words);
  if (merchant.disabled_by_partner || merchant.disabled_by_operator) {
    return card(stateLine('attention', plans.wait, plans.waitRest));
  }
  const partner = merchant.partner_name;
  return merchant.partner_disabled
    ? card(stateLine('attention', plans.wait, fill(plans.waitPartnerRest, { partner })))
    : null;
}
