import { type FoundWallet, iconOf, watchWallets } from './wallets.ts';

const legacyAfterMs = 500;

/**
 * Calls back whenever more wallets of this browser are found: those that announce themselves, otherwise the one in
 * `window.ethereum`.
 *
 * @param legacyName the name for a wallet that does not report one
 */
export function findWallets(legacyName: string, show: (wallets: FoundWallet[]) => void): void {
  let announced = false;
  watchWallets((wallets) => {
    announced = true;
    show(wallets);
  });
  setTimeout(() => {
    const { ethereum } = window as { ethereum?: FoundWallet['provider'] };
    if (announced || !ethereum) return;
    show([{ info: { uuid: 'window.ethereum', name: legacyName, icon: '', rdns: '' }, provider: ethereum }]);
  }, legacyAfterMs);
}

/** Shows one button for each wallet, the first one as the main button. Existing buttons are kept. */
export function showWalletButtons(
  place: HTMLElement,
  wallets: FoundWallet[],
  label: (wallet: FoundWallet) => string,
): void {
  place.hidden = wallets.length === 0;
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
}

/** Disables all buttons and marks that of the wallet being asked; null enables them again. */
export function markBusy(place: HTMLElement, wallet: FoundWallet | null): void {
  for (const button of place.querySelectorAll<HTMLElement>('[data-wallet]')) {
    button.ariaBusy = button.dataset.wallet === wallet?.info.uuid ? 'true' : null;
    button.ariaDisabled = wallet ? 'true' : null;
  }
}
