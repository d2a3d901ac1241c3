import { formatMicro } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import { checksummed } from '../ui/address.ts';
import { fullAddress } from '../ui/components.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import { copyableRow } from './copyable-row.ts';
import type { Option } from './options.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';

/** What to send where, for customers who type it themselves; null for an amount that no reservation makes unique. */
export function manualPayment(checkout: Checkout, options: Option[]): Html | null {
  const { words } = checkout;
  const { paymentMethods } = payTexts(words);
  // Without a reservation, an amount that is typed is that of another customer's request, or could become it.
  if (!checkout.progress.asked.isReserved) return null;
  return html`
    <details class="manual">
      <summary>${paymentMethods.manual}</summary>
      ${options.map((option) => html`<div data-option="${option.index}">${instructions(checkout, option)}</div>`)}
    </details>
  `;
}

function instructions(checkout: Checkout, option: Option): Html {
  const { row, words } = checkout;
  const { chain, token, amountMicro } = option;
  const { paymentMethods } = payTexts(words);
  const values = { network: chain.name, token: token.symbol };
  return html`
    <p>
      <strong>${fill(paymentMethods.sendExactly, { ...values, amount: groupMicro(words, amountMicro) })}</strong>
    </p>
    <dl class="facts">
      ${copyableRow(paymentMethods.amount, paymentMethods.copyAmount, formatMicro(amountMicro))}
      ${copyableRow(paymentMethods.address, paymentMethods.copyAddress, checksummed(row.wallet_address))}
      <div>
        <dt>${paymentMethods.network}</dt>
        <dd>${chain.name}</dd>
      </div>
    </dl>
    <p class="warning">${fill(paymentMethods.warning, values)}</p>
    <p class="quiet">${paymentMethods.exactly}</p>
    ${codes(checkout, option)}
    <details>
      <summary>${paymentMethods.checkToken}</summary>
      <p class="quiet">${fill(paymentMethods.checkTokenRest, values)}</p>
      <p>${fullAddress(token.address)}</p>
    </details>
  `;
}

/**
 * Two QR codes: the address alone, which every scanner reads, and the transfer (EIP-681), which some wallets fill in.
 */
function codes({ row, url, words }: Checkout, { index, chain, token, amountMicro }: Option): Html {
  const { paymentMethods } = payTexts(words);
  const path = `${payPagePath(url)}/qr`;
  const exact = html`${groupMicro(words, amountMicro)} ${token.symbol}`;
  const code = (name: string, alt: string) =>
    html`<img loading="lazy" width="200" height="200" src="${path}/${name}" alt="${alt}">`;
  return html`
    <details>
      <summary>${paymentMethods.scanAddress}</summary>
      <p class="quiet">${fill(paymentMethods.scanAddressRest, { network: chain.name })}</p>
      <figure class="qr">
        ${code('address', paymentMethods.scanAddress)}
        <figcaption>${fullAddress(row.wallet_address)}</figcaption>
      </figure>
    </details>
    <details>
      <summary>${paymentMethods.phoneDirect}</summary>
      <p class="warning">${paymentMethods.phoneDirectRest}</p>
      <figure class="qr">
        ${code(String(index), paymentMethods.phoneDirect)}
        <figcaption>${fullAddress(row.wallet_address)}<br><strong><bdi>${exact}</bdi></strong></figcaption>
      </figure>
    </details>
  `;
}
