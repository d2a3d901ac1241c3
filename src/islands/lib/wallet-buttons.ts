import { type FoundWallet, iconOf, watchWallets } from './wallets.ts';

const legacyEveryMs = 500;
/** Some wallets, above all in the browsers of phone apps, set `window.ethereum` only after the page has loaded. */
const legacyTries = 20;

/**
 * Calls back whenever the wallets of this browser change: those that announce themselves, otherwise the one in
 * `window.ethereum`, until one announces itself.
 *
 * @param legacyName the name for a wallet that does not report one
 */
export function findWallets(legacyName: string, show: (wallets: FoundWallet[]) => void): void {
  let tries = 0;
  const looking = setInterval(() => {
    const { ethereum } = window as { ethereum?: FoundWallet['provider'] };
    if (ethereum || ++tries === legacyTries) clearInterval(looking);
    if (!ethereum) return;
    show([{ info: { uuid: 'window.ethereum', name: legacyName, icon: '', rdns: '' }, provider: ethereum }]);
  }, legacyEveryMs);
  watchWallets((wallets) => {
    clearInterval(looking);
    show(wallets);
  });
}

/** Shows one button for each wallet, the first one as the main button. Existing buttons of these wallets are kept. */
export function showWalletButtons(
  place: HTMLElement,
  wallets: FoundWallet[],
  label: (wallet: FoundWallet) => string,
): void {
  place.hidden = wallets.length === 0;
  for (const button of place.querySelectorAll<HTMLElement>('[data-wallet]')) {
    if (!wallets.some(({ info }) => info.uuid === button.dataset.wallet)) button.remove();
  }
  for (const wallet of wallets) {
    if (place.querySelector(`[data-wallet="${CSS.escape(wallet.info.uuid)}"]`)) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.wallet = wallet.info.uuid;
    if (place.childElementCount > 0) button.className = 'second';
    const icon = iconOf(wallet);
    if (icon) {
      const image = document.createElement('img');
      image.src = icon;
      image.alt = '';
      button.append(image);
    }
    button.append(label(wallet));
    place.append(button);
  }
  place.querySelector('[data-wallet]')?.classList.remove('second');
}

/** Disables all buttons and marks that of the wallet being asked; null enables them again. */
export function markBusy(place: HTMLElement, wallet: FoundWallet | null): void {
  for (const button of place.querySelectorAll<HTMLElement>('[data-wallet]')) {
    button.ariaBusy = button.dataset.wallet === wallet?.info.uuid ? 'true' : null;
    button.ariaDisabled = wallet ? 'true' : null;
  }
}
