import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type PlanDisplayStatus, type PlanRow, planDisplayStatus } from '../../plans/read.ts';
import { type Day, startOf } from '../../plans/rules.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, type StateKind, stateLine } from '../../ui/components.ts';
import { everyText } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { badge } from '../../web/table.ts';
import type { MerchantVisit } from '../route.ts';

const shapes: Record<PlanDisplayStatus, StateKind> = {
  active: 'waiting',
  failing: 'attention',
  paused: 'ended',
  ended: 'ended',
};

/** How a plan stands, as word and shape. */
export function planBadge(words: Words, plan: PlanRow): Html {
  const displayStatus = planDisplayStatus(plan);
  return badge(shapes[displayStatus], dashboardTexts(words).plans.displayStatus[displayStatus]);
}

/** A date for people. */
export function dayText({ language }: Words, day: Day): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(startOf(day));
}

/** The same, for machines too. */
export function dayHtml(words: Words, day: Day): Html {
  return html`<time datetime="${day}">${dayText(words, day)}</time>`;
}

/** What a plan asks for each time: `€9.00 every month`. */
export function chargeText(
  words: Words,
  { fiat_int, fiat_code, every, period }: Pick<PlanRow, 'fiat_int' | 'fiat_code' | 'every' | 'period'>,
): string {
  const amount = formatFiat(BigInt(fiat_int), fiat_code, words.language);
  return fill(dashboardTexts(words).plans.amountEvery, { amount, every: everyText(words, every, period) });
}

/** The same as a heading: the amount is what counts. */
export function chargeHeading(
  words: Words,
  { fiat_int, fiat_code, every, period }: Pick<PlanRow, 'fiat_int' | 'fiat_code' | 'every' | 'period'>,
): Html {
  return html`
    <p class="amount">${formatFiat(BigInt(fiat_int), fiat_code, words.language)}</p>
    <p>${everyText(words, every, period)}</p>
  `;
}

/** What a person would call a plan; one whose customer was forgotten by its day. */
export function planName(words: Words, { name, created_at }: PlanRow): string {
  const day = created_at.toISOString().slice(0, 10);
  return name ?? fill(dashboardTexts(words).plans.unnamed, { date: dayText(words, day) });
}

/** That plans wait, for a merchant that is switched off; null for others. */
export function waitingCard(words: Words, { merchant }: MerchantVisit): Html | null {
  const { plans } = dashboardTexts(words);
  const isOff = merchant.disabled_by_partner || merchant.disabled_by_operator;
  return isOff ? card(stateLine('attention', plans.wait, plans.waitRest)) : null;
}
