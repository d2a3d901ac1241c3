import { type Html, html } from '../lib/html.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** What a test payment can come to, in the order partners try them. */
export const testOutcomes = [
  'exact',
  'too_little',
  'too_much',
  'late',
  'too_late',
  'wrong_token',
  'wrong_network',
  'failed',
  'reorganised',
] as const;
export type TestOutcome = (typeof testOutcomes)[number] | 'rest';

/** In the sandbox's test mode: pays with a test wallet, every way a payment can go; null elsewhere. */
export function testPanel(checkout: Checkout): Html | null {
  const { testWallet, state, words, url } = checkout;
  const part = payable(state);
  if (!testWallet || part === 'no') return null;
  const { test } = words.t;
  const offered: TestOutcome[] = part === 'rest' ? ['rest', 'too_much'] : [...testOutcomes];
  return html`<section class="card test"><h2>${test.heading}</h2><p class="quiet">${test.rest}</p>
<form method="post" action="${payPagePath(url)}/test" class="outcomes">${offered.map(
    (outcome) =>
      html`<button name="outcome" value="${outcome}" class="second">${outcome === 'rest' ? test.rest_of : test[outcome]}</button>`,
  )}</form></section>`;
}
