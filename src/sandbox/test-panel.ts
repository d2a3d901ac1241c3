import { payPagePath } from '../checkout/paths.ts';
import type { Checkout } from '../checkout/read.ts';
import { payable } from '../checkout/state.ts';
import { type Html, html } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import { type SandboxOutcome, type SandboxRefusal, sandboxOutcomes } from './outcomes.ts';

/** Why a test payment was not sent. */
export type TestRefusal = SandboxRefusal['reason'];

/** After a partial payment, only these outcomes make sense. */
const afterPartial: SandboxOutcome[] = ['rest', 'too_little', 'too_much'];

/** Buttons that pay with a test wallet, one for each outcome; null if nothing can be paid and nothing was refused. */
export function testPanel(checkout: Checkout, refusal: TestRefusal | null): Html | null {
  const { state, words, url } = checkout;
  const payablePart = payable(state);
  if (payablePart === 'no' && refusal === null) return null;
  const { test } = payTexts(words);
  const offered = payablePart === 'rest' ? afterPartial : sandboxOutcomes.filter((outcome) => outcome !== 'rest');
  return html`
    <section class="card test">
      <h2>${test.heading}</h2>
      <p class="quiet">${test.hint}</p>
      ${refusal && html`<p role="status">${test.refused[refusal]}</p>`}
      <form method="post" action="${payPagePath(url)}/test" class="outcomes" data-working="${test.working}">
        ${offered.map(
          (outcome) =>
            html`<button name="outcome" value="${outcome}" class="second">${test.outcomes[outcome]}</button>`,
        )}
      </form>
    </section>
  `;
}
