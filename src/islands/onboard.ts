import type { WalletsData } from '../ui/wallet-forms.ts';
import { announceIn } from './lib/announce.ts';
import { refusalFrom, WalletRefusal } from './lib/refusal.ts';
import { fillText, language } from './lib/texts.ts';
import { findWallets, markBusy, showWalletButtons } from './lib/wallet-buttons.ts';
import { askAccount, changeChain, currentChain, type FoundWallet, knownAccounts, signText } from './lib/wallets.ts';

/** The wallet that was connected on the page before: the next page knows it by this. */
const chosenKey = 'wallet';
/** Wallets announce themselves within the blink of an eye; after this there is none. */
const noneAfterMs = 800;

const list = document.querySelector<HTMLElement>('[data-wallets]');
if (list) start(list, JSON.parse(list.dataset.wallets ?? '') as WalletsData);

/** Offers the wallets of this browser in place of a form to fill in, which stays for who has none. */
function start(list: HTMLElement, data: WalletsData): void {
  const { texts, signing } = data;
  const manual = list.parentElement?.querySelector<HTMLDetailsElement>('details.manual');
  const told = list.nextElementSibling as HTMLElement;
  const openManual = (open: boolean) => {
    if (manual && !manual.querySelector('.fault')) manual.open = open;
  };
  let wallets: FoundWallet[] = [];
  let busy = false;
  openManual(false);
  const none = setTimeout(() => {
    announceIn(told, texts.none);
    openManual(true);
  }, noneAfterMs);

  findWallets(texts.browserWallet, async (found) => {
    clearTimeout(none);
    if (wallets.length === 0 && !told.hidden) announceIn(told, '');
    wallets = found;
    openManual(false);
    const shown = await inOrder(found, data);
    if (found !== wallets) return; // another one announced itself meanwhile
    showWalletButtons(list, shown, ({ info }) => fillText(signing ? texts.sign : texts.connect, { wallet: info.name }));
  });
  list.addEventListener('click', async ({ target }) => {
    const uuid = (target as Element).closest<HTMLElement>('[data-wallet]')?.dataset.wallet;
    const wallet = wallets.find(({ info }) => info.uuid === uuid);
    if (!wallet || busy) return;
    const known = { wallet: wallet.info.name };
    busy = true;
    markBusy(list, wallet);
    try {
      await (signing ? sign : connect)(wallet, data, list, (text) => announceIn(told, fillText(text, known)));
    } catch (error) {
      const { text, values } = refusalFrom(error, 'failed');
      announceIn(told, fillText((texts as Record<string, string>)[text], { ...known, ...values }), true);
    }
    busy = false;
    markBusy(list, null);
  });
}

/**
 * The wallets to choose from, most likely first: the one with the wanted account, the one connected before, any other,
 * and last the one with the unwanted account. If the account that must sign is found, only its wallet.
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

type Tell = (text: string) => void;

/** The wallet's account; refuses in words when it gives none. */
async function accountOf(wallet: FoundWallet, { texts }: WalletsData, tell: Tell): Promise<string> {
  tell(texts.opening);
  const account = await askAccount(wallet);
  if (account === null) throw new WalletRefusal('noAccount');
  return account;
}

/** Takes the wallet's account over into the form, and sends it. */
async function connect(wallet: FoundWallet, data: WalletsData, list: HTMLElement, tell: Tell): Promise<void> {
  const account = await accountOf(wallet, data, tell);
  const chainId = await offeredChain(wallet, data);
  const form = list.parentElement?.querySelector<HTMLFormElement>('details.manual form');
  if (!form) return;
  setField(form, 'wallet_address', account);
  setField(form, 'chain_id', String(chainId));
  sessionStorage.setItem(chosenKey, wallet.info.rdns);
  form.submit();
}

/** The network the wallet signs in on: its own where that is offered, else the first one, if it goes there. */
async function offeredChain(wallet: FoundWallet, { chains }: WalletsData): Promise<number> {
  const current = await currentChain(wallet);
  const [first] = chains;
  if (!first || chains.some(({ chainId }) => chainId === current)) return current;
  try {
    await changeChain(wallet, first);
  } catch {
    throw new WalletRefusal('wrongNetwork', {
      networks: new Intl.ListFormat(language, { type: 'disjunction' }).format(chains.map(({ name }) => name)),
    });
  }
  return first.chainId;
}

/** Has the form's message signed, and sends both. */
async function sign(wallet: FoundWallet, data: WalletsData, list: HTMLElement, tell: Tell): Promise<void> {
  const { texts, wanted } = data;
  const form = list.closest('form');
  const box = form?.querySelector<HTMLInputElement>('input[type="checkbox"]');
  if (!form || wanted === null || (box && !box.reportValidity())) return;
  const account = await accountOf(wallet, data, tell);
  if (account !== wanted)
    throw new WalletRefusal('otherAccount', { address: `${wanted.slice(0, 8)}…${wanted.slice(-6)}` });
  tell(texts.waiting);
  const message = form.querySelector('pre')?.textContent ?? '';
  setField(form, 'signature', await signText(wallet, account, message));
  tell(texts.sending);
  form.submit();
}

function setField(form: HTMLFormElement, name: string, value: string): void {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement) {
    field.value = value;
  }
}
