import { formatFiat } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { firstVisible } from '../lib/text/visible.ts';
import { dayOf } from '../lib/time.ts';
import type { PlanDisplayStatus, PlanRow } from '../plans/read.ts';
import type { Day } from '../plans/rules.ts';
import { dashboardTexts } from '../texts/dashboard.ts';
import { badge, type StateKind } from '../ui/components.ts';
import { amountEvery, dayText } from '../ui/formats.ts';
import { fill, type Words } from '../ui/language.ts';
import { emptyState } from './table.ts';

const shapes: Record<PlanDisplayStatus, StateKind> = {
  active: 'waiting',
  failing: 'attention',
  paused: 'ended',
  ended: 'ended',
};

/** A plan's status as a word with a shape. */
export function planBadge(words: Words, displayStatus: PlanDisplayStatus): Html {
  return badge(shapes[displayStatus], dashboardTexts(words).plans.displayStatus[displayStatus]);
}

/** A plan's date as text. */
export const dateText = (words: Words, day: Day): string => dayText(words, new Date(`${day}T00:00:00Z`));

/** A date as text, with a machine-readable value. */
export function dayHtml(words: Words, day: Day): Html {
  return html`<time datetime="${day}">${dateText(words, day)}</time>`;
}

/** A plan's charge and interval: `€9.00 every month`. */
export function chargeText(
  words: Words,
  { fiat_int, fiat_code, every, period }: Pick<PlanRow, 'fiat_int' | 'fiat_code' | 'every' | 'period'>,
): string {
  const amount = formatFiat(BigInt(fiat_int), fiat_code, words.language);
  return amountEvery(words, amount, every, period);
}

/** A plan's name; its day of creation if its name was erased with its customer's data, or shows nothing. */
export function planName(words: Words, { name, created_at }: PlanRow): string {
  return firstVisible(name) ?? fill(dashboardTexts(words).plans.unnamed, { date: dateText(words, dayOf(created_at)) });
}

/** Shown while a plan has no charges: when the first one comes, or why none does. */
export function noCharges(words: Words, { state, next_on }: Pick<PlanRow, 'state' | 'next_on'>): Html {
  const { plans: t } = dashboardTexts(words);
  if (state === 'paused') return emptyState(t.noCharges, t.noChargesPaused);
  if (state === 'ended' || next_on === null) return emptyState(t.noCharges, t.noChargesEnded);
  return emptyState(t.noCharges, fill(t.nextCharge, { date: dateText(words, next_on) }));
}
