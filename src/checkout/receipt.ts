import { formatFiat } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { receiptNumber } from '../lib/text/receipt-number.ts';
import { firstVisible } from '../lib/text/visible.ts';
import { madeAt } from '../requests/rules.ts';
import { receiptTexts } from '../texts/receipts.ts';
import { card, descriptionList, fullAddress, mono } from '../ui/components.ts';
import { groupMicro, rateOf, zonedInstant } from '../ui/formats.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';
import { transactionFact } from './transactions.ts';

/** The receipt as a card of the pay page: what was paid, when, how and to whom. */
export function receiptCard(checkout: Checkout): Html {
  const { receipt } = receiptTexts(checkout.words);
  const path = `${payPagePath(checkout.url)}/receipt`;
  return card(
    html`<h2>${receipt.heading}</h2>`,
    receiptFacts(checkout),
    html`<p><a href="${path}">${receipt.link}</a></p>`,
  );
}

/** The facts of a verified request's receipt, with their names. */
export function receiptFacts(checkout: Checkout): Html {
  const { row, words, merchant, progress, branding } = checkout;
  const { receipt } = receiptTexts(words);
  const at = row.proof_verified_at;
  const memo = firstVisible(row.memo);
  const amount = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  return descriptionList([
    [receipt.number, mono(receiptNumber(row.id, row.proof_verified_at ?? madeAt(row)))],
    at && [receipt.confirmed, zonedInstant(words, at)],
    [receipt.paidTo, merchant],
    memo !== null ? [receipt.for, html`<span class="memo" dir="auto">${memo}</span>`] : null,
    [receipt.amount, html`${amount} <span class="quiet">(${rateOf(words, row)})</span>`],
    [receipt.received, html`<bdi>${groupMicro(words, progress.receivedMicro)} USDC</bdi>`],
    [receipt.from, payersOf(checkout)],
    [receipt.to, fullAddress(row.wallet_address)],
    transactionFact(checkout),
    row.merchant_name !== null ? [receipt.through, branding.name] : null,
  ]);
}

/** Everybody who paid a part, not only the payer whose part completed the sum. */
function payersOf({ progress }: Checkout): Html {
  const payers = new Set(progress.transfers.map(({ fromAddress }) => fromAddress));
  return html`${[...payers].map((payer) => html`<p>${fullAddress(payer)}</p>`)}`;
}
