import { type Html, html } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import { fill } from '../ui/language.ts';
import { pageCode, walletApps, walletElsewhere } from '../web/phone-wallets.ts';
import { networkChips } from './network-chips.ts';
import { payOptions, walletOrders } from './options.ts';
import { manualPayment } from './pay-manually.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** How to pay: by a wallet in this browser, by one on a phone, or manually; null if there is nothing to pay. */
export function paymentMethodsOf(checkout: Checkout): Html | null {
  const options = payOptions(checkout);
  const { paymentMethods } = payTexts(checkout.words);
  if (options.length === 0) {
    if (payable(checkout.state) === 'no') return null;
    return html`
      <section class="card ways">
        <p>${fill(paymentMethods.none, { merchant: checkout.merchant })}</p>
      </section>
    `;
  }
  const orders = JSON.stringify(walletOrders(checkout, options));
  return html`
    <section class="card ways" data-orders="${orders}">
      <h2>${checkout.state.kind === 'near' ? paymentMethods.headingNear : paymentMethods.heading}</h2>
      ${checkout.state.kind === 'sending' && html`<p class="warning">${paymentMethods.twice}</p>`}
      ${options.length > 1 && networkChips(checkout.words, options, true)}
      ${checkout.feeless.length > 0 && withoutFee(checkout)}
      <div class="wallets" hidden></div>
      ${walletApps(checkout)}
      ${walletElsewhere(checkout)}
      <p class="told" role="status" hidden></p>
      ${pageCode(checkout)}
      ${manualPayment(checkout, options)}
    </section>
  `;
}

/**
 * The wallet only signs, and the operator pays the network fee. The choice needs script, and shows only beside wallets
 * that can sign. It is preselected while an earlier signature may still be executed: then the same wallet signs the
 * same authorization again, and cannot pay twice.
 */
function withoutFee({ words, state }: Checkout): Html {
  const { paymentMethods } = payTexts(words);
  const again = state.kind === 'sending' || (state.kind === 'unsent' && state.holds);
  return html`
    <label class="check feeless" hidden>
      <input
        type="checkbox"
        name="feeless"
        aria-labelledby="feeless"
        aria-describedby="feeless-rest"${again && html` data-usual="yes"`}
      >
      <span>
        <span id="feeless">${paymentMethods.feeless}</span><br>
        <span id="feeless-rest" class="quiet">${paymentMethods.feelessRest}</span>
      </span>
    </label>
  `;
}
