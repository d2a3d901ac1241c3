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
 * WalletConnect, where configured: a button that loads it, and the place for its QR code. Shown with script only.
 *
 * @param merchant the name that the wallet shows for this site
 * @param label what its button says, with `{wallet}`
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

/** Wallets that open a page in their own browser, by links their makers document. */
const walletLinks: [name: string, link: (url: string) => string][] = [
  ['MetaMask', (url) => `https://metamask.app.link/dapp/${url.replace(/^https?:\/\//, '')}`],
  ['Base app', (url) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(url)}`],
  ['Trust Wallet', (url) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(url)}`],
];

/**
 * The same by schemes that only an installed wallet answers. An address that lets somebody in is never sent to a
 * maker's server, which the links above ask where the wallet is missing.
 */
const secretWalletLinks: typeof walletLinks = [
  ['MetaMask', (url) => `metamask://dapp/${url.replace(/^https?:\/\//, '')}`],
  ['Base app', (url) => `cbwallet://dapp?url=${encodeURIComponent(url)}`],
  ['Trust Wallet', (url) => `trust://open_url?coin_id=60&url=${encodeURIComponent(url)}`],
];

/** A page that a wallet opens. `isSecret`: its address lets whoever has it in. */
type OpenedPage = { url: string; words: Words; isSecret?: boolean };

/** On a phone: opens the page in a wallet that is installed there. The main way where this browser has no wallet. */
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
 * A code that opens the page on a phone; not shown on a phone, which cannot scan itself.
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

/** A wallet on a phone: links that open the page in it, and elsewhere a code that opens the page there. */
export const phone = (page: OpenedPage, rest: string): Html => html`${walletApps(page)}${pageCode(page, rest)}`;

export type SigningPage = {
  words: Words;
  walletConnect: WalletConnectConfig | null;
  /** Who asks, as the wallet shows it. */
  name: string;
  /** The public address of the page to go on at, on a phone. */
  url: string;
  /** That address lets whoever has it in. */
  isSecret: boolean;
};

/** The wallets that are not in this browser, on a page where one is connected or signs. */
export function signingElsewhere(
  { words, walletConnect, name, url, isSecret }: SigningPage,
  step: 'connect' | 'sign',
): Elsewhere {
  const { told, connectWith, phoneRest } = walletTexts(words).signing;
  const label = step === 'connect' ? connectWith : told.sign;
  return {
    pair: walletElsewhere({ walletConnect, words, merchant: name }, label),
    phone: phone({ url, words, isSecret }, phoneRest),
  };
}

/** Where a page with WalletConnect may connect to beside this site. */
export function relayOrigin(walletConnect: WalletConnectConfig | null): string | undefined {
  return walletConnect ? new URL(walletConnect.relayUrl).origin : undefined;
}
