import { announceIn } from './announce.ts';
import { ensureNetwork } from './ensure-network.ts';
import { refusalFrom, WalletRefusal } from './refusal.ts';
import { fillText, type IslandTexts } from './texts.ts';
import { markBusy, showWalletButtons } from './wallet-buttons.ts';
import { type FoundWallet, requestAccount, type WalletChain } from './wallets.ts';

/** Puts the wallets of this browser in front of the field for a signature from elsewhere. */
export function offerSigning(root: HTMLElement, wallets: FoundWallet[], texts: IslandTexts): void {
  const form = root.querySelector<HTMLFormElement>('form.claim');
  const place = form?.querySelector<HTMLElement>('.wallets');
  const elsewhere = form?.querySelector<HTMLDetailsElement>('.elsewhere');
  if (!form || !place || !elsewhere || wallets.length === 0) return;
  if (place.hidden) elsewhere.open = elsewhere.querySelector('[aria-invalid]') !== null;
  showWalletButtons(place, wallets, ({ info }) => fillText(texts.signWith, { wallet: info.name }));
  place.onclick = ({ target }) => {
    const uuid = (target as Element).closest<HTMLElement>('[data-wallet]')?.dataset.wallet;
    const wallet = wallets.find(({ info }) => info.uuid === uuid);
    if (wallet) void signClaim(form, wallet, texts);
  };
}

/** Has a wallet sign that the payment is for this request, and sends the form. */
async function signClaim(form: HTMLFormElement, wallet: FoundWallet, texts: IslandTexts): Promise<void> {
  if (form.dataset.signing) return;
  form.dataset.signing = 'yes';
  const { typed = '', from = '' } = form.dataset;
  const chain = JSON.parse(form.dataset.chain ?? 'null') as WalletChain | null;
  const tell = (text: string, values: Record<string, string> = {}, isFault = false) => {
    const known = { wallet: wallet.info.name, network: chain?.name ?? '', address: from };
    announceIn(form.querySelector<HTMLElement>('.told'), fillText(texts[text], { ...known, ...values }), isFault);
  };
  markBusy(form, wallet);
  try {
    tell('connecting');
    const account = await requestAccount(wallet).catch((error) => Promise.reject(refusalFrom(error, 'noAccount')));
    if (!account) throw new WalletRefusal('noAccount');
    if (account !== from.toLowerCase()) throw new WalletRefusal('otherAccount');
    // Common wallets sign typed data only while they are on its network.
    if (chain) await ensureNetwork(wallet, chain, () => tell('switching'), 'signNetwork');
    tell('signing');
    const params = [account, typed];
    const signature = await wallet.provider.request({ method: 'eth_signTypedData_v4', params });
    const field = form.querySelector<HTMLInputElement>('[name="signature"]');
    if (field) field.value = String(signature);
    tell('');
    form.requestSubmit();
  } catch (error) {
    const { text, values } = refusalFrom(error, 'notSigned');
    tell(text, values, true);
  }
  delete form.dataset.signing;
  markBusy(form, null);
}
