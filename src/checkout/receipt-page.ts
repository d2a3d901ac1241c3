import type { FastifyReply } from 'fastify';
import { formatFiat } from '../lib/money.ts';
import { html } from '../lib/text/html.ts';
import { receiptNumber } from '../lib/text/receipt-number.ts';
import { madeAt } from '../requests/rules.ts';
import { payTexts } from '../texts/pay.ts';
import { receiptTexts } from '../texts/receipts.ts';
import { logoOf } from '../ui/branding.ts';
import { card, largeAmount, stateLine } from '../ui/components.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import { sendPage } from '../web/layout.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';
import { receiptFacts } from './receipt.ts';
import { refundSentences } from './refunded.ts';

/** The receipt at its own, permanent address; 404 with an explanation if the request is not paid. */
export function sendReceipt(reply: FastifyReply, checkout: Checkout): FastifyReply {
  const { row, words, branding, url, state, merchant } = checkout;
  const { receipt } = receiptTexts(words);
  const { statusMessage } = payTexts(words);
  const path = payPagePath(url);
  const back = html`<p class="actions"><a href="${path}">${receipt.back}</a></p>`;
  const page = { whose: merchant, words, branding, testMode: row.test_mode, path: `${path}/receipt` };
  if (state.kind !== 'paid') {
    const body = card(stateLine('ended', receipt.notPaid, receipt.notPaidRest, 'h1'), back);
    return sendPage(reply, 404, { ...page, title: receipt.notPaid, body });
  }
  const number = receiptNumber(row.id, row.proof_verified_at ?? madeAt(row));
  return sendPage(reply, 200, {
    ...page,
    title: fill(receipt.title, { number }),
    island: 'receipt',
    body: html`
      <article class="card receipt">
        ${logoOf(branding)}
        <div>
          ${largeAmount(formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language))}
          <p class="coin"><bdi>${groupMicro(words, checkout.progress.receivedMicro)} USDC</bdi></p>
        </div>
        ${stateLine('paid', statusMessage.paid, merchant, 'h1')}
        <hr class="rule">
        ${receiptFacts(checkout)}
        ${refundSentences(checkout, checkout.progress.surpluses).map((sentence) => html`<p>${sentence}</p>`)}
      </article>
      <p class="actions">
        <button type="button" class="second" data-print hidden>${receipt.print}</button>
      </p>
      ${back}
    `,
  });
}
