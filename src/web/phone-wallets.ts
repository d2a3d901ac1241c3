import type { WalletConnectConfig } from '../config.ts';
import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { payTexts } from '../texts/pay.ts';
import { walletTexts } from '../texts/wallets.ts';
import { qr } from '../ui/components.ts';
import { fill, type Words } from '../ui/language.ts';
import type { Elsewhere } from '../ui/wallet-forms.ts';
import { walletConnectPath } from './assets.ts';

/**
 * WalletConnect, if configured: a button that loads it, and the place for its QR code. Shown only with script.
 *
 * @param merchant the name that the wallet shows for this site
 * @param label the button's text, with `{wallet}`
 */
export function walletElsewhere(
  { walletConnect, words, merchant }: { walletConnect: WalletConnectConfig | null; words: Words; merchant: string },
  label: string = payTexts(words).wallet.payWith,
): Html | null {
  if (!walletConnect) return null;
  const { paymentMethods } = payTexts(words);
  const { common } = commonTexts(words);
  const offer = JSON.stringify({ script: walletConnectPath, ...walletConnect, name: merchant });
  return html`
    <div class="late" data-offer="${offer}" hidden>
      <button type="button" class="second" data-wallet="walletconnect">
        ${fill(label, { wallet: paymentMethods.walletConnect })}
      </button>
      <div class="pairing" hidden>
        <figure class="qr there">
          <div role="img" aria-label="${common.qrCode}"></div>
          <figcaption class="quiet">${paymentMethods.walletConnectRest}</figcaption>
        </figure>
        <a class="button second here">${paymentMethods.openIn}</a>
        <button type="button" class="second" data-copy="">${paymentMethods.copyLink}</button>
      </div>
    </div>
  `;
}

/** Wallets that open a page in their own browser, and their documented links. */
const walletLinks: [name: string, link: (url: string) => string][] = [
  ['MetaMask', (url) => `https://metamask.app.link/dapp/${url.replace(/^https?:\/\//, '')}`],
  ['Base app', (url) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(url)}`],
  ['Trust Wallet', (url) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(url)}`],
];

/** The names of these wallets. */
export const walletNames = walletLinks.map(([name]) => name);

/**
 * The same with URL schemes that only an installed wallet handles. If the wallet is missing, the links above open the
 * maker's server, which must not get a secret address.
 */
const secretWalletLinks: typeof walletLinks = [
  ['MetaMask', (url) => `metamask://dapp/${url.replace(/^https?:\/\//, '')}`],
  ['Base app', (url) => `cbwallet://dapp?url=${encodeURIComponent(url)}`],
  ['Trust Wallet', (url) => `trust://open_url?coin_id=60&url=${encodeURIComponent(url)}`],
];

/** A page that a wallet opens. `isSecret`: whoever has its address can open it. */
type OpenedPage = { url: string; words: Words; isSecret?: boolean };

/** On a phone: links that open the page in an installed wallet. They come first if this browser has no wallet. */
export function walletApps({ url, words, isSecret = false }: OpenedPage): Html {
  const links = isSecret ? secretWalletLinks : walletLinks;
  return html`
    <details class="apps">
      <summary>${payTexts(words).paymentMethods.openIn}</summary>
      <p class="links">
        ${links.map(([name, link]) => html`<a class="button second" href="${link(url)}" rel="noreferrer">${name}</a>`)}
      </p>
    </details>
  `;
}

/**
 * A QR code that opens the page on a phone. A phone does not show it, because it cannot scan its own screen.
 *
 * @param rest what happens when the code is scanned
 */
export function pageCode(
  { url, words }: { url: string; words: Words },
  rest: string = payTexts(words).paymentMethods.phoneRest,
): Html {
  return html`
    <details class="phone" open>
      <summary>${payTexts(words).paymentMethods.phone}</summary>
      ${qr(url, commonTexts(words).common.qrCode, rest)}
    </details>
  `;
}

/** Ways to a wallet on a phone: on the phone, links that open the page in the wallet; elsewhere, a QR code. */
export const phone = (page: OpenedPage, rest: string): Html => html`${walletApps(page)}${pageCode(page, rest)}`;

export type SigningPage = {
  words: Words;
  walletConnect: WalletConnectConfig | null;
  /** The name of the site that the wallet shows. */
  name: string;
  /** The public address of the page on which to continue on a phone. */
  url: string;
  /** Whether anybody who has that address can open the page. */
  isSecret: boolean;
};

/** The ways to wallets outside this browser, on a page where a wallet connects or signs. */
export function signingElsewhere(
  { words, walletConnect, name, url, isSecret }: SigningPage,
  step: 'connect' | 'sign',
): Elsewhere {
  const { browser, connectWith, phoneRest } = walletTexts(words).signing;
  const label = step === 'connect' ? connectWith : browser.sign;
  return {
    pair: walletElsewhere({ walletConnect, words, merchant: name }, label),
    phone: phone({ url, words, isSecret }, phoneRest),
  };
}

/** The origin to which a page with WalletConnect may connect, beside this site. */
export function relayOrigin(walletConnect: WalletConnectConfig | null): string | undefined {
  return walletConnect ? new URL(walletConnect.relayUrl).origin : undefined;
}
