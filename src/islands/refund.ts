/** Has the merchant's wallet send a prepared transfer, and stores its hash. */
import './app.ts';
import { announceIn } from './lib/announce.ts';
import { ensureNetwork } from './lib/ensure-network.ts';
import { refusalFrom, WalletRefusal } from './lib/refusal.ts';
import { fillText, type IslandTexts } from './lib/texts.ts';
import { findWallets, markBusy, showWalletButtons } from './lib/wallet-buttons.ts';
import { askAccount, type FoundWallet, hexId, type WalletChain } from './lib/wallets.ts';

/** `from`: the sender's address, with its checksum for people. */
type Order = { chain: WalletChain & { coin: string }; token: string; from: string; data: string; texts: IslandTexts };

/** Wallets are found sooner than this. After this time, the page says that there is none. */
const noneAfterMs = 800;

const list = document.querySelector<HTMLElement>('[data-refund]');
if (list) start(list, JSON.parse(list.dataset.refund ?? '') as Order);

function start(list: HTMLElement, order: Order): void {
  const { texts } = order;
  const messageBox = list.nextElementSibling as HTMLElement;
  let wallets: FoundWallet[] = [];
  let busy = false;

  const none = setTimeout(() => announceIn(messageBox, texts.none ?? ''), noneAfterMs);
  findWallets(texts.browserWallet ?? '', (found) => {
    clearTimeout(none);
    if (wallets.length === 0) announceIn(messageBox, '');
    wallets = found;
    showWalletButtons(list, wallets, ({ info }) => fillText(texts.send, { wallet: info.name }));
  });
  list.addEventListener('click', async ({ target }) => {
    const uuid = (target as Element).closest<HTMLElement>('[data-wallet]')?.dataset.wallet;
    const wallet = wallets.find(({ info }) => info.uuid === uuid);
    if (!wallet || busy) return;
    const tell = (text: string, values: Record<string, string> = {}, isFault = false) => {
      const known = { wallet: wallet.info.name, network: order.chain.name, coin: order.chain.coin };
      announceIn(messageBox, fillText(texts[text], { ...known, ...values }), isFault);
    };
    busy = true;
    markBusy(list, wallet);
    try {
      record(await send(wallet, order, tell));
      tell('sent');
      return; // the page changes, and must not offer the transfer again
    } catch (error) {
      const { text, values } = refusalFrom(error, 'failed');
      tell(text, values, true);
    }
    busy = false;
    markBusy(list, null);
  });
}

/**
 * Has the wallet send the transfer.
 *
 * @returns its hash
 * @throws WalletRefusal
 */
async function send(wallet: FoundWallet, order: Order, tell: (text: string) => void): Promise<string> {
  const { chain, token, from, data } = order;
  tell('waiting');
  const account = await askAccount(wallet).catch((error) => Promise.reject(refusalFrom(error, 'noAccount')));
  if (account === null) throw new WalletRefusal('noAccount');
  if (account !== from.toLowerCase()) throw new WalletRefusal('otherAccount', { address: from });
  await ensureNetwork(wallet, chain, () => tell('switching'));
  tell('waiting');
  const transaction = { from, to: token, data, value: '0x0', chainId: hexId(chain.chainId) };
  return (await wallet.provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as string;
}

/** Sends the form that records the transaction. */
function record(hash: string): void {
  const form = document.querySelector<HTMLFormElement>('form#note');
  const field = form?.querySelector<HTMLInputElement>('[name="return_tx_hash"]');
  if (field) field.value = hash;
  form?.requestSubmit();
}
