import { formatFiat } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { firstVisible } from '../lib/text/visible.ts';
import { madeAt } from '../requests/rules.ts';
import { payTexts } from '../texts/pay.ts';
import { logoOf } from '../ui/branding.ts';
import { largeAmount } from '../ui/components.ts';
import { formatRemaining, groupMicro, joinWithOr, nearInstant, rateOf } from '../ui/formats.ts';
import { fill, fillHtml } from '../ui/language.ts';
import { payOptions } from './options.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** The payee, the amount, the purpose, and the remaining time. */
export function summary(checkout: Checkout): Html {
  const { row, state, now, words, merchant, branding } = checkout;
  const { pay } = payTexts(words);
  const fiat = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  const left = row.expires_at.getTime() - now.getTime();
  const whole = row.expires_at.getTime() - madeAt(row).getTime();
  const open = payable(state) !== 'no' && left > 0;
  const memo = firstVisible(row.memo);
  return html`
    <header class="payee">${logoOf(branding)}<h1>${merchant}</h1></header>
    ${payable(state) === 'rest' ? restDue(checkout, fiat) : wholeDue(checkout, fiat)}
    ${memo !== null && memoOf(memo, pay.memo)}
    ${
      open &&
      html`
        <div class="countdown" data-until="${row.expires_at.toISOString()}">
          <progress max="${whole}" value="${left}" aria-hidden="true"></progress>
          <p class="quiet">
            <span data-left="${pay.left}">${fill(pay.left, { time: formatRemaining(words, left) })}</span>
            ${' · '}
            ${fillHtml(pay.until, { time: nearInstant(words, row.expires_at, now) })}
          </p>
        </div>
      `
    }
  `;
}

/** The amount that was requested; dimmed once the request ended unpaid. */
function wholeDue(checkout: Checkout, fiat: string): Html {
  const { row, state, words } = checkout;
  const { pay } = payTexts(words);
  const isDim = state.kind === 'expired' || state.kind === 'voided' || state.kind === 'too_late';
  const madeTime = nearInstant(words, madeAt(row), checkout.now);
  return html`
    <div${isDim && html` class="dim"`}>
      ${largeAmount(fiat)}
      <p class="coin">${coinLine(checkout)}</p>
      <p class="quiet">${fillHtml(pay.rateAt, { rate: rateOf(words, row), time: madeTime })}</p>
    </div>
  `;
}

/** After a partial payment, the rest is the largest figure, so that nobody pays the whole amount again. */
function restDue(checkout: Checkout, fiat: string): Html {
  const { progress, words } = checkout;
  const { pay } = payTexts(words);
  const options = payOptions(checkout);
  const rest = html`${groupMicro(words, options[0]?.amountMicro ?? progress.asked.micro)} USDC`;
  const network = joinWithOr(words, [...new Set(options.map(({ chain }) => chain.name))]);
  const total = { fiat, amount: groupMicro(words, progress.dueMicro) };
  return html`
    <div>
      ${largeAmount(rest)}
      <p class="coin">${options.length === 0 ? pay.restLeft : fill(pay.restOn, { network })}</p>
      <p class="quiet">${fill(pay.restOf, total)}</p>
    </div>
  `;
}

/** The amount in USDC, and where to pay it: `14.501162 USDC on Base`. Without the network once nothing can be paid. */
function coinLine(checkout: Checkout): Html {
  const { row, words } = checkout;
  const amount = groupMicro(words, BigInt(row.usdc_micro));
  const options = payOptions(checkout);
  if (options.length === 0) return html`<bdi>${amount} USDC</bdi>`;
  const token = joinWithOr(words, [...new Set(options.map(({ token }) => token.symbol))]);
  const network = joinWithOr(words, [...new Set(options.map(({ chain }) => chain.name))]);
  // A sentence of the page: it has the page’s direction, not that of the token’s name.
  return html`${fill(payTexts(words).pay.dueOn, { amount, token, network })}`;
}

/**
 * What the payment is for. Its label says that it is what the merchant wrote, and not a word of this page, which a memo
 * could imitate. A long text is collapsed, so that the first screen leads to the payment.
 */
function memoOf(memo: string, label: string): Html {
  const isLong = memo.length > shownMemoLength || memo.split('\n').length > shownMemoLines;
  if (!isLong) return html`<div><p class="quiet">${label}</p><p class="memo" dir="auto">${memo}</p></div>`;
  return html`<details class="purpose"><summary>${label}</summary><p class="memo" dir="auto">${memo}</p></details>`;
}
const shownMemoLength = 100;
const shownMemoLines = 3;
