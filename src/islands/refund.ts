/** Has the merchant's wallet send a prepared transfer, and stores its hash. */
import './app.ts';
import { fillText, type IslandTexts } from './lib/texts.ts';
import {
  askAccount,
  changeChain,
  type FoundWallet,
  isDeclined,
  type WalletChain,
  watchWallets,
} from './lib/wallets.ts';

/** `from`: the sender's address, with its checksum for people. */
type Order = { chain: WalletChain; token: string; from: string; data: string; texts: IslandTexts };

/** Wallets announce themselves at once. After this time, the page says that there is none. */
const noneAfterMs = 600;

const list = document.querySelector<HTMLElement>('[data-refund]');
if (list) start(list, JSON.parse(list.dataset.refund ?? '') as Order);

function start(list: HTMLElement, order: Order): void {
  const messageBox = list.nextElementSibling as HTMLElement;
  const tell = (text: string | undefined, values: Record<string, string> = {}) => {
    messageBox.hidden = !text;
    messageBox.textContent = fillText(text, values);
  };
  const none = setTimeout(() => tell(order.texts.none), noneAfterMs);
  watchWallets((wallets) => {
    clearTimeout(none);
    if (messageBox.textContent === order.texts.none) tell('');
    list.replaceChildren(
      ...wallets.map((wallet) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = fillText(order.texts.send, { wallet: wallet.info.name });
        button.addEventListener('click', () => void run(wallet, list, order, tell));
        return button;
      }),
    );
    list.hidden = false;
  });
}

type Tell = (text: string | undefined, values?: Record<string, string>) => void;

/** Asks a wallet to send. Meanwhile all wallets' buttons are disabled. */
async function run(wallet: FoundWallet, list: HTMLElement, order: Order, tell: Tell): Promise<void> {
  const buttons = [...list.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  try {
    const sent = await send(wallet, order, tell);
    if (sent) return; // the page changes, and must not offer the transfer again
  } catch (error) {
    const { message = '' } = (error ?? {}) as { message?: string };
    const values = { wallet: wallet.info.name, reason: message.slice(0, 200) };
    tell(isDeclined(error) ? order.texts.declined : order.texts.failed, values);
  }
  for (const button of buttons) button.disabled = false;
}

async function send(wallet: FoundWallet, order: Order, tell: Tell): Promise<boolean> {
  const { texts, chain, from, token, data } = order;
  const name = { wallet: wallet.info.name };
  tell(texts.waiting, name);
  const account = await askAccount(wallet);
  if (account === null) tell(texts.noAccount, name);
  else if (account !== from.toLowerCase()) tell(texts.otherAccount, { ...name, address: from });
  if (account !== from.toLowerCase()) return false;
  await changeChain(wallet, chain);
  const call = { from, to: token, data, value: '0x0' };
  const hash = (await wallet.provider.request({ method: 'eth_sendTransaction', params: [call] })) as string;
  tell(texts.sent);
  const form = document.querySelector<HTMLFormElement>('form#note');
  const field = form?.querySelector<HTMLInputElement>('[name="return_tx_hash"]');
  if (field) field.value = hash;
  form?.requestSubmit();
  return true;
}
