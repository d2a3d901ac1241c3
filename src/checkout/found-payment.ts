import { type Html, html } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import { stateLine } from '../ui/components.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import { copyableRow } from './copyable-row.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** A payment that arrived but matches no request, and the amount that this request asks for. Micro units. */
export type FoundPayment = { usdcMicro: bigint; askedMicro: bigint };

/** What arrived, in a sentence that says nothing about its payer. */
export function foundTitle({ words }: Checkout, { usdcMicro, askedMicro }: FoundPayment): string {
  const { found } = payTexts(words);
  const values = { amount: groupMicro(words, usdcMicro), asked: groupMicro(words, askedMicro) };
  return fill(usdcMicro === askedMicro ? found.titleSame : found.title, values);
}

/** What arrived, and what to do: ask the merchant, who decides. The reference leads the merchant to this request. */
export function foundPayment(checkout: Checkout, payment: FoundPayment): Html {
  const { row, state, words, merchant } = checkout;
  const { found } = payTexts(words);
  const isShort = payment.usdcMicro < payment.askedMicro;
  const rest = payable(state) === 'no' ? found.endedRest : isShort ? found.shortRest : found.otherRest;
  return html`
    ${stateLine('attention', foundTitle(checkout, payment), fill(rest, { merchant }))}
    <dl class="facts">${copyableRow(found.reference, found.copyReference, row.id)}</dl>
  `;
}
