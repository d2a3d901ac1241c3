import { formatFiat } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { madeAt } from '../requests/rules.ts';
import { payTexts } from '../texts/pay.ts';
import { logoOf } from '../ui/branding.ts';
import { formatRemaining, groupMicro, instant, rateOf } from '../ui/formats.ts';
import { fill, fillHtml } from '../ui/language.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** Who is paid, how much, for what, and how long is left. */
export function summary(checkout: Checkout): Html {
  const { row, state, now, words, merchant, branding } = checkout;
  const { pay } = payTexts(words);
  const fiat = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  const left = row.expires_at.getTime() - now.getTime();
  const whole = row.expires_at.getTime() - madeAt(row).getTime();
  const open = payable(state) !== 'no' && left > 0;
  return html`
    <header class="payee">${logoOf(branding)}<h1>${merchant}</h1></header>
    <div>
      <p class="amount${visibleLength(fiat) > 11 && ' long'}">${fiat}</p>
      <p class="coin"><bdi>${groupMicro(words, BigInt(row.usdc_micro))} USDC</bdi></p>
      <p class="quiet">${fillHtml(pay.rateAt, { rate: rateOf(words, row), time: instant(words, madeAt(row)) })}</p>
    </div>
    ${row.memo !== null && html`<p class="memo" dir="auto">${row.memo}</p>`}
    ${
      open &&
      html`
        <div class="countdown" data-until="${row.expires_at.toISOString()}">
          <progress max="${whole}" value="${left}" aria-hidden="true"></progress>
          <p class="quiet">
            <span data-left="${pay.left}">${fill(pay.left, { time: formatRemaining(words, left) })}</span>
            ${' · '}
            ${fillHtml(pay.until, { time: instant(words, row.expires_at) })}
          </p>
        </div>
      `
    }
  `;
}

/** How many characters are seen: right-to-left languages put marks of direction between them. */
const visibleLength = (text: string) => text.replace(/\p{Cf}/gu, '').length;
