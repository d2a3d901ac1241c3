import type { WalletsData } from '../ui/wallet-forms.ts';
import {
  askAccount,
  changeChain,
  currentChain,
  type FoundWallet,
  iconOf,
  isDeclined,
  knownAccounts,
  signText,
  watchWallets,
} from './lib/wallets.ts';

/** The wallet that was connected on the page before; another page may know it by this. */
const chosenKey = 'wallet';
/** Wallets announce themselves within the blink of an eye; after this there is none. */
const noneAfterMs = 600;

const list = document.querySelector<HTMLElement>('[data-wallets]');
if (list) start(list, JSON.parse(list.dataset.wallets ?? '') as WalletsData);

function start(list: HTMLElement, data: WalletsData): void {
  const byHand = list.parentElement?.querySelector<HTMLDetailsElement>('details.by-hand');
  const told = list.nextElementSibling as HTMLElement;
  const tell = (text: string, values: Record<string, string> = {}) => {
    told.hidden = text === '';
    told.textContent = text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  };
  if (byHand && !byHand.querySelector('.fault')) byHand.open = false;
  const none = setTimeout(() => {
    tell(data.texts.none);
    if (byHand) byHand.open = true;
  }, noneAfterMs);
  const use = data.signing ? sign : connect;

  let latest: FoundWallet[] = [];
  watchWallets(async (wallets) => {
    latest = wallets;
    clearTimeout(none);
    if (told.textContent === data.texts.none) tell('');
    if (byHand && !byHand.querySelector('.fault')) byHand.open = false;
    const shown = await inOrder(wallets, data);
    if (wallets !== latest) return; // another one announced itself meanwhile
    list.replaceChildren(
      ...shown.map((wallet) => {
        const label = data.signing ? data.texts.sign : data.texts.connect;
        const button = walletButton(wallet, label, wallet !== shown[0]);
        button.addEventListener('click', () => {
          void run(wallet, () => use(wallet, data, list, tell), list, data, tell);
        });
        return button;
      }),
    );
    list.hidden = false;
  });
}

/**
 * The wallets to choose from, the likeliest first: the one with the wanted account, the one connected before, any other,
 * and last the one with the unwanted account. Where the account that must sign is found, only its wallet.
 */
async function inOrder(wallets: FoundWallet[], { wanted, unwanted, signing }: WalletsData): Promise<FoundWallet[]> {
  const ranked = await Promise.all(
    wallets.map(async (wallet) => {
      const accounts = await knownAccounts(wallet).catch((): string[] => []);
      if (wanted !== null && accounts.includes(wanted)) return { wallet, rank: 0 };
      if (unwanted !== null && accounts.includes(unwanted)) return { wallet, rank: 3 };
      return { wallet, rank: wallet.info.rdns === sessionStorage.getItem(chosenKey) ? 1 : 2 };
    }),
  );
  const owners = ranked.filter(({ rank }) => rank === 0);
  const shown = signing && owners.length > 0 ? owners : ranked;
  return shown.sort((a, b) => a.rank - b.rank).map(({ wallet }) => wallet);
}

function walletButton(wallet: FoundWallet, label: string, second: boolean): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  if (second) button.className = 'second';
  const icon = iconOf(wallet);
  if (icon !== null) {
    const image = document.createElement('img');
    image.src = icon;
    image.alt = '';
    button.append(image);
  }
  button.append(label.replace('{wallet}', wallet.info.name));
  return button;
}

type Tell = (text: string, values?: Record<string, string>) => void;

/** One thing at a time: while a wallet is asked, no other is. */
async function run(
  wallet: FoundWallet,
  work: () => Promise<void>,
  list: HTMLElement,
  { texts }: WalletsData,
  tell: Tell,
): Promise<void> {
  const buttons = [...list.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  try {
    await work();
  } catch (error) {
    const { message = '' } = (error ?? {}) as { message?: string };
    if (isDeclined(error)) tell(texts.declined, { wallet: wallet.info.name });
    else tell(texts.failed, { wallet: wallet.info.name, reason: message.slice(0, 200) });
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** Takes the wallet's account over into the form beneath, and sends it. */
async function connect(wallet: FoundWallet, data: WalletsData, list: HTMLElement, tell: Tell): Promise<void> {
  const { texts, chains } = data;
  const { name } = wallet.info;
  tell(texts.opening, { wallet: name });
  const account = await askAccount(wallet);
  if (account === null) return tell(texts.noAccount, { wallet: name });
  const chainId = await offeredChain(wallet, data);
  if (chainId === null) {
    return tell(texts.wrongNetwork, { wallet: name, networks: chains.map((chain) => chain.name).join(', ') });
  }
  const form = list.parentElement?.querySelector<HTMLFormElement>('details.by-hand form');
  if (!form) return;
  setField(form, 'wallet_address', account);
  setField(form, 'chain_id', String(chainId));
  sessionStorage.setItem(chosenKey, wallet.info.rdns);
  tell('');
  form.submit();
}

/** The network the wallet signs in on: its own where that is offered, else the first one, if it goes there. */
async function offeredChain(wallet: FoundWallet, { chains }: WalletsData): Promise<number | null> {
  const current = await currentChain(wallet);
  if (chains.some(({ chainId }) => chainId === current)) return current;
  const [first] = chains;
  if (!first) return null;
  try {
    await changeChain(wallet, first);
    return first.chainId;
  } catch {
    return null;
  }
}

/** Has the form's message signed, and sends both. */
async function sign(wallet: FoundWallet, data: WalletsData, list: HTMLElement, tell: Tell): Promise<void> {
  const { texts, wanted: address } = data;
  const { name } = wallet.info;
  const form = list.closest('form');
  if (!form || address === null) return;
  const box = form.querySelector<HTMLInputElement>('input[type="checkbox"]');
  if (box && !box.reportValidity()) return;
  tell(texts.opening, { wallet: name });
  const account = await askAccount(wallet);
  if (account === null) return tell(texts.noAccount, { wallet: name });
  if (account !== address) return tell(texts.otherAccount, { wallet: name, address: shorten(address) });
  tell(texts.waiting, { wallet: name });
  const message = form.querySelector('pre')?.textContent ?? '';
  setField(form, 'signature', await signText(wallet, account, message));
  tell(texts.sending);
  form.submit();
}

const shorten = (address: string) => `${address.slice(0, 8)}…${address.slice(-6)}`;

function setField(form: HTMLFormElement, name: string, value: string): void {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement) {
    field.value = value;
  }
}
