import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { PlanRow } from '../../plans/read.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, largeAmount, stateLine } from '../../ui/components.ts';
import { everyText } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import type { MerchantVisit } from '../route.ts';

/** What a plan asks for, as a heading: the amount is what counts. */
export function chargeHeading(
  words: Words,
  { fiat_int, fiat_code, every, period }: Pick<PlanRow, 'fiat_int' | 'fiat_code' | 'every' | 'period'>,
): Html {
  return html`
    ${largeAmount(formatFiat(BigInt(fiat_int), fiat_code, words.language))}
    <p>${everyText(words, every, period)}</p>
  `;
}

/** That plans wait, for a merchant that is switched off; null for others. */
export function waitingCard(words: Words, { merchant }: MerchantVisit): Html | null {
  const { plans } = dashboardTexts(words);
  const isOff = merchant.disabled_by_partner || merchant.disabled_by_operator;
  return isOff ? card(stateLine('attention', plans.wait, plans.waitRest)) : null;
}
