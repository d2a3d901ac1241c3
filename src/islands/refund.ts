/** Has the merchant's wallet send a prepared transfer, and stores its hash. */
import './app.ts';
import { announceIn } from './lib/announce.ts';
import { ensureNetwork } from './lib/ensure-network.ts';
import { refusalFrom, WalletRefusal } from './lib/refusal.ts';
import { fillText, type IslandTexts } from './lib/texts.ts';
import { findWallets, markBusy, showWalletButtons } from './lib/wallet-buttons.ts';
import { type FoundWallet, hexId, requestAccount, type WalletChain } from './lib/wallets.ts';

/** `from`: the sender's address, with its checksum for people. */
type Order = { chain: WalletChain & { coin: string }; token: string; from: string; data: string; texts: IslandTexts };

/** Wallets are found sooner than this. After this time, the page says that there is none. */
const noneAfterMs = 800;
const answerMs = 20_000;

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
      const hash = await send(wallet, order, tell);
      if (hash === null) location.replace(location.pathname);
      else {
        record(hash);
        tell('sent');
      }
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
 * @returns its hash; null if nothing was sent because the transfer is not due any more
 * @throws WalletRefusal
 */
async function send(wallet: FoundWallet, order: Order, tell: (text: string) => void): Promise<string | null> {
  const { chain, token, from, data } = order;
  tell('waiting');
  const account = await requestAccount(wallet).catch((error) => Promise.reject(refusalFrom(error, 'noAccount')));
  if (account === null) throw new WalletRefusal('noAccount');
  if (account !== from.toLowerCase()) throw new WalletRefusal('otherAccount', { address: from });
  await ensureNetwork(wallet, chain, () => tell('switching'));
  tell('waiting');
  if (!(await isDue(order))) return null;
  const transaction = { from, to: token, data, value: '0x0', chainId: hexId(chain.chainId) };
  return (await wallet.provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as string;
}

/**
 * Whether the page, asked for again, still offers the transfer: on another device it may have been sent, or the refund
 * cancelled.
 *
 * @throws WalletRefusal if the page cannot be had
 */
async function isDue({ chain, token, data }: Order): Promise<boolean> {
  const shown = await fetch(location.pathname, { signal: AbortSignal.timeout(answerMs) })
    .then((answer) => (answer.status === 429 || answer.status >= 500 ? null : answer.text()))
    .catch(() => null);
  if (shown === null) throw new WalletRefusal('notReached');
  const list = new DOMParser().parseFromString(shown, 'text/html').querySelector<HTMLElement>('[data-refund]');
  const offered = JSON.parse(list?.dataset.refund ?? 'null') as Order | null;
  return offered?.chain.chainId === chain.chainId && offered.token === token && offered.data === data;
}

/** Sends the form that records the transaction. */
function record(hash: string): void {
  const form = document.querySelector<HTMLFormElement>('form#note');
  const field = form?.querySelector<HTMLInputElement>('[name="return_tx_hash"]');
  if (field) field.value = hash;
  form?.requestSubmit();
}
