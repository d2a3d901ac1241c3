import type { WalletsData } from '../ui/wallet-forms.ts';
import { announceIn } from './lib/announce.ts';
import { copyFrom } from './lib/copy.ts';
import { promiseTyped } from './lib/kept-forms.ts';
import { discardPage, keepPage } from './lib/kept-page.ts';
import { keepPairing, takePairing } from './lib/kept-pairing.ts';
import { type KeptPairing, type LazyOffer, LazyWallet } from './lib/lazy-wallet.ts';
import { localTimes } from './lib/local-times.ts';
import './lib/notice-once.ts';
import { refusalFrom, WalletRefusal } from './lib/refusal.ts';
import { tabStorage } from './lib/storage.ts';
import { fillText, language } from './lib/texts.ts';
import { findWallets, markBusy, showWalletButtons } from './lib/wallet-buttons.ts';
import { changeChain, currentChain, type FoundWallet, knownAccounts, requestAccount, signText } from './lib/wallets.ts';

/** The key under which the next page finds the wallet that was connected on the previous one. */
const chosenKey = 'wallet';
/** Wallets announce themselves at once. After this time, the page says that there is none. */
const noneAfterMs = 800;

type Texts = WalletsData['texts'];
type Tell = (text: keyof Texts, values?: Record<string, string>) => void;

/** Connects a wallet or has it sign. The form for typing stays for people without a wallet in this browser. */
class WalletPage {
  readonly #list: HTMLElement;
  readonly #place: HTMLElement;
  readonly #data: WalletsData;
  readonly #texts: Texts;
  readonly #message: HTMLElement | null;
  readonly #lazy: LazyWallet | null;
  #wallets: FoundWallet[] = [];
  #atWork: FoundWallet | null = null;
  /** Whether a wallet is asked for something that must not be asked twice. Until then, another one can be chosen. */
  #held = false;
  #run = 0;
  /** Whether the next page continues the connection to a wallet on another device. */
  #goesOn = false;

  constructor(list: HTMLElement) {
    this.#list = list;
    this.#place = list.parentElement as HTMLElement;
    this.#data = JSON.parse(list.dataset.wallets ?? '') as WalletsData;
    this.#texts = this.#data.texts;
    this.#message = this.#place.querySelector<HTMLElement>('.told');
    const kept = takePairing(this.#data.signing ? this.#data.wanted : null);
    this.#lazy = this.#lazyWallet(kept);
    this.#openManual(false);
    const none = setTimeout(() => this.#announceNone(), noneAfterMs);
    if (kept) clearTimeout(none);
    findWallets(this.#texts.browserWallet, (found) => {
      clearTimeout(none);
      void this.#show(found);
    });
    this.#place.addEventListener('click', ({ target }) => this.#pressed(target as Element));
    addEventListener('pagehide', () => {
      if (!this.#goesOn) void this.#lazy?.provider.leave();
    });
  }

  #openManual(open: boolean): void {
    const manual = this.#place.querySelector<HTMLDetailsElement>('details.manual');
    if (manual && manual.dataset.typed === undefined && !manual.querySelector('.fault')) manual.open = open;
  }

  #openPhone(open: boolean): void {
    const phone = this.#place.querySelector<HTMLDetailsElement>('details.phone');
    if (phone) phone.open = open;
  }

  /** Without a wallet: a phone can open this page in its wallet, a desktop shows a code to scan; otherwise type. */
  #announceNone(): void {
    const phone = this.#place.querySelector('details.phone');
    // A phone, and a page that is zoomed in far, show links instead of the code.
    const text = phone ? (phone.getClientRects().length > 0 ? 'noneScan' : 'noneOnPhone') : 'none';
    announceIn(this.#message, this.#texts[text]);
    if (!phone) this.#openManual(true);
  }

  async #show(found: FoundWallet[]): Promise<void> {
    if (this.#wallets.length === 0) {
      if (!this.#message?.hidden && this.#atWork === null) announceIn(this.#message, '');
      this.#openPhone(false); // a wallet in this browser is the easier way
      this.#openManual(false);
    }
    this.#wallets = found;
    const shown = await inOrder(found, this.#data);
    if (found !== this.#wallets) return; // another one announced itself meanwhile
    showWalletButtons(this.#list, shown, ({ info }) => this.#label(info.name));
  }

  #label(wallet: string): string {
    return fillText(this.#data.signing ? this.#texts.sign : this.#texts.connect, { wallet });
  }

  #pressed(target: Element): void {
    const copy = target.closest<HTMLElement>('[data-copy]');
    if (copy) void copyFrom(copy, (text) => announceIn(this.#message, text), this.#texts.copied);
    const uuid = target.closest<HTMLElement>('[data-wallet]')?.dataset.wallet;
    const wallet = uuid === LazyWallet.uuid ? this.#lazy : this.#wallets.find(({ info }) => info.uuid === uuid);
    if (wallet && !this.#held && this.#atWork !== wallet) void this.#use(wallet);
  }

  async #use(wallet: FoundWallet): Promise<void> {
    const run = ++this.#run;
    const isOver = () => run !== this.#run;
    const tell = (text: string, values: Record<string, string> = {}, isFault = false) => {
      const all = { wallet: wallet.info.name, ...values };
      if (!isOver()) announceIn(this.#message, fillText((this.#texts as Record<string, string>)[text], all), isFault);
    };
    this.#atWork = wallet;
    markBusy(this.#place, wallet);
    const pairing = this.#pairing();
    if (pairing) pairing.hidden = true;
    try {
      await (this.#data.signing ? this.#sign(wallet, tell, isOver) : this.#connect(wallet, tell, isOver));
    } catch (error) {
      const { text, values } = refusalFrom(error, 'failed');
      tell(text, values, true);
    }
    if (isOver()) return;
    this.#atWork = null;
    this.#held = false;
    markBusy(this.#place, null);
  }

  /** The wallet's account. Throws WalletRefusal if it gives none. */
  async #accountOf(wallet: FoundWallet, tell: Tell): Promise<string> {
    const isLazy = wallet === this.#lazy;
    tell(isLazy ? 'pairing' : 'opening');
    const asked = requestAccount(wallet);
    const account = await (isLazy ? asked.catch((error) => Promise.reject(refusalFrom(error, 'noAccount'))) : asked);
    if (account === null) throw new WalletRefusal('noAccount');
    return account;
  }

  /** Writes the wallet's account into the form, and sends it. */
  async #connect(wallet: FoundWallet, tell: Tell, isOver: () => boolean): Promise<void> {
    const account = await this.#accountOf(wallet, tell);
    const chainId = await offeredChain(wallet, this.#data);
    const form = this.#place.querySelector<HTMLFormElement>('details.manual form');
    if (!form || isOver()) return;
    setField(form, 'wallet_address', account);
    setField(form, 'chain_id', String(chainId));
    tabStorage.setItem(chosenKey, wallet.info.rdns);
    if (wallet === this.#lazy) keepPairing(await this.#lazy.provider.keep(account));
    this.#goesOn = wallet === this.#lazy;
    discardPage();
    form.submit();
  }

  /** Has the form's message signed, and sends both. */
  async #sign(wallet: FoundWallet, tell: Tell, isOver: () => boolean): Promise<void> {
    const { wanted, wantedShown: shown } = this.#data;
    const form = this.#list.closest('form');
    const box = form?.querySelector<HTMLInputElement>('input[type="checkbox"]');
    if (!form || wanted === null || shown === null || (box && !box.reportValidity())) return;
    const account = await this.#accountOf(wallet, tell);
    if (isOver()) return;
    if (account !== wanted) {
      if (wallet === this.#lazy) await this.#lazy.provider.leave(); // so that another wallet can scan the next code
      throw new WalletRefusal('otherAccount', { address: `${shown.slice(0, 8)}…${shown.slice(-6)}` });
    }
    this.#held = true;
    markBusy(this.#place, wallet);
    tell('waiting');
    const message = form.querySelector('pre')?.textContent ?? '';
    setField(form, 'signature', await signText(wallet, account, message));
    tell('sending');
    discardPage();
    form.submit();
  }

  #pairing(): HTMLElement | null {
    return this.#place.querySelector<HTMLElement>('.pairing');
  }

  /** The wallet on another device. If the previous page connected it, one press is enough to sign. */
  #lazyWallet(kept: KeptPairing | null): LazyWallet | null {
    const late = this.#place.querySelector<HTMLElement>('.late');
    if (!late?.dataset.offer) return null;
    late.hidden = false;
    const button = late.querySelector('button');
    if (kept && button) {
      button.className = '';
      button.textContent = this.#label(kept.name);
      this.#openPhone(false);
    }
    return new LazyWallet({
      offer: JSON.parse(late.dataset.offer) as LazyOffer,
      methods: ['personal_sign'],
      chainIds: () => this.#data.chains.map(({ chainId }) => chainId),
      place: () => this.#pairing(),
      shown: () => {
        announceIn(this.#message, '');
        markBusy(this.#place, null);
        this.#openPhone(false);
      },
      ...(kept && { kept }),
    });
  }
}

/**
 * The wallets to choose from, most likely first: the one with the wanted account, the one connected before, any other,
 * and last the one with the unwanted account. If the account that must sign is found, only its wallet.
 */
async function inOrder(wallets: FoundWallet[], { wanted, unwanted, signing }: WalletsData): Promise<FoundWallet[]> {
  const ranked = await Promise.all(
    wallets.map(async (wallet) => {
      const accounts = await knownAccounts(wallet);
      if (wanted !== null && accounts.includes(wanted)) return { wallet, rank: 0 };
      if (unwanted !== null && accounts.includes(unwanted)) return { wallet, rank: 3 };
      return { wallet, rank: wallet.info.rdns === tabStorage.getItem(chosenKey) ? 1 : 2 };
    }),
  );
  const owners = ranked.filter(({ rank }) => rank === 0);
  const shown = signing && owners.length > 0 ? owners : ranked;
  return shown.sort((a, b) => a.rank - b.rank).map(({ wallet }) => wallet);
}

/** The network on which the wallet signs in: its current one if that is offered, else the first one, if it switches. */
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

function setField(form: HTMLFormElement, name: string, value: string): void {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement) {
    field.value = value;
  }
}

localTimes(document);
promiseTyped();
keepPage();
const list = document.querySelector<HTMLElement>('[data-wallets]');
if (list) new WalletPage(list);
