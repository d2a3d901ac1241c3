import type { PlanView } from '../checkout/plan/read.ts';
import { type Html, html } from '../lib/text/html.ts';
import { mandateTexts } from '../texts/mandates.ts';
import { instant } from '../ui/formats.ts';
import { fillHtml } from '../ui/language.ts';

/** What a customer without a wallet can try on a plan's page. */
export type PlanStep = 'agree' | 'charge';

/** The step that can be tried now; null if there is none. */
export function planStep({ facts, mandate, offered, notChargedUntil }: PlanView): PlanStep | null {
  if (mandate?.state === 'active') return facts.state === 'active' && notChargedUntil === null ? 'charge' : null;
  return offered.length > 0 ? 'agree' : null;
}

/**
 * The button that agrees with a test wallet or makes the next charge due, or from when the agreement allows that; null
 * if there is nothing to try.
 */
export function planPanel(view: PlanView): Html | null {
  const { words, path, facts, notChargedUntil } = view;
  const step = planStep(view);
  const later = facts.state === 'active' ? notChargedUntil : null;
  if (step === null && later === null) return null;
  const { test } = mandateTexts(words);
  return html`
    <section class="card test">
      <h2>${test.heading}</h2>
      <p class="quiet">${test.hint}</p>
      ${later && html`<p>${fillHtml(test.later, { time: instant(words, later) })}</p>`}
      ${
        step &&
        html`
          <form method="post" action="${path}/test">
            <button name="step" value="${step}" class="second">${test[step]}</button>
          </form>
        `
      }
    </section>
  `;
}
