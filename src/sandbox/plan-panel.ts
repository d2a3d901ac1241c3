import type { PlanView } from '../checkout/plan/read.ts';
import { type Html, html } from '../lib/text/html.ts';
import { mandateTexts } from '../texts/mandates.ts';

/** What a customer without a wallet can try on a plan's page. */
export type PlanStep = 'agree' | 'charge';

/** The step that can be tried now; null if there is none. */
export function planStep({ facts, mandate, offered }: PlanView): PlanStep | null {
  if (mandate?.state === 'active') return facts.state === 'active' ? 'charge' : null;
  return offered.length > 0 ? 'agree' : null;
}

/** The button that agrees with a test wallet or makes the next charge due; null if there is nothing to try. */
export function planPanel(view: PlanView): Html | null {
  const step = planStep(view);
  if (step === null) return null;
  const { test } = mandateTexts(view.words);
  return html`
    <section class="card test">
      <h2>${test.heading}</h2>
      <p class="quiet">${test.hint}</p>
      <form method="post" action="${view.path}/test">
        <button name="step" value="${step}" class="second">${test[step]}</button>
      </form>
    </section>
  `;
}
