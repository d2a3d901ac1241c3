import { payPagePath } from '../checkout/paths.ts';
import type { Checkout } from '../checkout/read.ts';
import { payable } from '../checkout/state.ts';
import { type Html, html } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import { type SandboxOutcome, type SandboxRefusal, sandboxOutcomes } from './outcomes.ts';

/** Outcomes that the page shows only after it has looked for them. */
const shownLater: SandboxOutcome[] = ['wrong_token', 'wrong_network'];

/** What to say about a test payment: why it was not sent, or that the page will show it. */
export type TestReport = { refused: SandboxRefusal['reason'] } | 'sent';

/** What to say after an outcome that the page does not show at once; null for the others. */
export function reportSent(outcome: SandboxOutcome): TestReport | null {
  return shownLater.includes(outcome) ? 'sent' : null;
}

/** After a partial payment, only these outcomes make sense. */
const afterPartial: SandboxOutcome[] = ['rest', 'too_little', 'too_much'];

/** Buttons that pay with a test wallet, one for each outcome; null if nothing can be paid and nothing is to be said. */
export function testPanel(checkout: Checkout, report: TestReport | null): Html | null {
  const { state, words, url } = checkout;
  const payablePart = payable(state);
  if (payablePart === 'no' && report === null) return null;
  const { test } = payTexts(words);
  const said = report && (report === 'sent' ? test.sent : test.refused[report.refused]);
  const offered = payablePart === 'rest' ? afterPartial : sandboxOutcomes.filter((outcome) => outcome !== 'rest');
  return html`
    <section class="card test">
      <h2>${test.heading}</h2>
      <p class="quiet">${test.hint}</p>
      ${said && html`<p role="status">${said}</p>`}
      <form method="post" action="${payPagePath(url)}/test" class="outcomes" data-working="${test.working}">
        ${offered.map(
          (outcome) =>
            html`<button name="outcome" value="${outcome}" class="second">${test.outcomes[outcome]}</button>`,
        )}
      </form>
    </section>
  `;
}
