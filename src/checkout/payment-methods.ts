import { formatMicro } from '../lib/money.ts';
import { type Html, html, raw } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import { mono } from '../ui/components.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import { phone, walletElsewhere } from '../web/phone-wallets.ts';
import { type Option, payOptions, walletOrders } from './options.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** How to pay: a wallet in this browser, one on a phone, or manually; null when there is nothing to pay. */
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
      <h2>${paymentMethods.heading}</h2>
      ${checkout.state.kind === 'sending' && html`<p class="warning">${paymentMethods.twice}</p>`}
      ${options.length > 1 && networkChips(checkout, options)}
      ${checkout.feeless.length > 0 && withoutFee(checkout)}
      <div class="wallets" hidden></div>
      ${walletElsewhere(checkout)}
      <p class="told" role="status" hidden></p>
      ${phone(checkout)}
      ${manual(checkout, options)}
    </section>
  `;
}

/**
 * Only signs, and somebody else pays the network fee. Shown with script only, beside wallets that can sign. After one
 * that may still be executed it is the usual way: the same wallet signs the same again, and cannot pay twice.
 */
function withoutFee({ words, state }: Checkout): Html {
  const { paymentMethods } = payTexts(words);
  const again = state.kind === 'sending' || (state.kind === 'unsent' && state.holds);
  return html`
    <label class="check feeless" hidden>
      <input type="checkbox" name="feeless"${again && html` data-usual="yes"`}>
      <span>${paymentMethods.feeless}<br><span class="quiet">${paymentMethods.feelessRest}</span></span>
    </label>
  `;
}

/** One chip a network and token; browser code hides what belongs to the others. */
function networkChips({ words }: Checkout, options: Option[]): Html {
  return html`
    <fieldset class="chips" hidden>
      <legend class="quiet">${payTexts(words).paymentMethods.network}</legend>
      ${options.map(
        ({ index, chain, token }) =>
          html`
            <label>
              <input type="radio" name="option" value="${index}"${index === 0 && html` checked`}>
              <span>${optionName(chain.name, token.symbol, options)}</span>
            </label>
          `,
      )}
    </fieldset>
  `;
}

/** The network's name, and the token's where a network offers several or they differ. */
function optionName(network: string, symbol: string, options: Option[]): string {
  const symbols = new Set(options.map(({ token }) => token.symbol));
  return symbols.size > 1 ? `${network} · ${symbol}` : network;
}

function manual(checkout: Checkout, options: Option[]): Html | null {
  const { words } = checkout;
  const { paymentMethods } = payTexts(words);
  // A rest that is typed could be the amount of another customer's request.
  if (payable(checkout.state) === 'rest') return null;
  return html`
    <details class="manual">
      <summary>${paymentMethods.manual}</summary>
      ${options.map((option) => html`<div data-option="${option.index}">${instructions(checkout, option)}</div>`)}
      <p class="quiet">${paymentMethods.exactly}</p>
    </details>
  `;
}

function instructions({ row, url, words }: Checkout, { index, chain, token, amountMicro }: Option): Html {
  const { paymentMethods } = payTexts(words);
  const exact = formatMicro(amountMicro);
  const grouped = groupMicro(words, amountMicro);
  const values = { network: chain.name, token: token.symbol };
  return html`
    <p>
      <strong>${fill(paymentMethods.sendExactly, { ...values, amount: grouped })}</strong>
    </p>
    <dl class="facts">
      ${copyable(paymentMethods.amount, paymentMethods.copyAmount, exact)}
      ${copyable(paymentMethods.address, paymentMethods.copyAddress, row.wallet_address)}
      <div>
        <dt>${paymentMethods.network}</dt>
        <dd>${chain.name}</dd>
      </div>
      ${copyable(fill(paymentMethods.tokenContract, values), paymentMethods.copyToken, token.address)}
    </dl>
    <p class="warning">${fill(paymentMethods.warning, values)}</p>
    <details>
      <summary>${paymentMethods.phoneDirect}</summary>
      <p class="quiet">${paymentMethods.phoneDirectRest}</p>
      <figure class="qr">
        <img
          loading="lazy"
          width="200"
          height="200"
          src="${payPagePath(url)}/qr/${index}"
          alt="${fill(paymentMethods.sendExactly, { ...values, amount: grouped })}: ${row.wallet_address}"
        >
      </figure>
    </details>
  `;
}

/** A fact with a button that copies it; the button needs script and shows only with it. */
function copyable(name: string, label: string, value: string): Html {
  return html`
    <div class="copyable">
      <dt>${name}</dt>
      <dd>${mono(value)}</dd>
      <dd>
        <button type="button" class="copy" data-copy="${value}" aria-label="${label}" hidden>${raw(copyShape)}</button>
      </dd>
    </div>
  `;
}

const copyShape =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8"><rect x="8" y="8" width="12" height="12" rx="2.5"/><path d="M16 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h2"/></svg>';
