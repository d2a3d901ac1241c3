import { type Html, html } from '../../lib/text/html.ts';
import type { ChargeRow } from '../../plans/read.ts';
import { isWaiting } from '../../requests/rules.ts';
import { type ChargesTexts, chargesTexts } from '../../texts/charges.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { card, stateLine } from '../../ui/components.ts';
import { instant } from '../../ui/formats.ts';
import { fill, fillHtml } from '../../ui/language.ts';
import type { PlanView } from './read.ts';

type Reason = keyof ChargesTexts['yours'];
export type FailedCharge = { reason: Reason; nextAt: Date | null };

/**
 * Why an automatic charge was not collected; null if it was, or if the customer can do nothing about the reason.
 * `nextAt`: null if it is not tried again.
 */
export function failedCharge({ words }: PlanView, row: ChargeRow): FailedCharge | null {
  const { collection, collect_reason: reason, next_attempt_at: nextAt } = row;
  if (!isWaiting(row) || reason === null || !(reason in chargesTexts(words).yours)) return null;
  if (collection === 'waiting') return { reason: reason as Reason, nextAt };
  return collection === 'asked' || collection === 'past_due' ? { reason: reason as Reason, nextAt: null } : null;
}

/** The newest failed charge of the view; null if there is none. */
export function newestFailed(view: PlanView): FailedCharge | null {
  for (const row of view.charges) {
    const failed = failedCharge(view, row);
    if (failed) return failed;
  }
  return null;
}

/** Says that a charge failed, and what the customer can do. */
export function failedCard({ words }: PlanView, { nextAt }: FailedCharge): Html {
  const { page: t } = mandateTexts(words);
  return card(stateLine('attention', t.failed, nextAt === null ? t.failedPayRest : t.failedRest));
}

/** Why a charge failed and when it is tried again, for the list of charges. */
export function failedLines({ words, merchant }: PlanView, { reason, nextAt }: FailedCharge): Html {
  const t = chargesTexts(words);
  return html`
    <p class="quiet">${fill(t.yours[reason], { merchant })}</p>
    ${nextAt !== null && html`<p class="quiet">${fillHtml(t.next, { time: instant(words, nextAt) })}</p>`}
  `;
}
