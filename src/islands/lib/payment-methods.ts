import { OptionChoice } from './choose-option.ts';
import { ensureNetwork } from './ensure-network.ts';
import { type LazyOffer, LazyWallet } from './lazy-wallet.ts';
import { methodsIn, type Orders, ordersOf, type PayOption } from './order.ts';
import { refusalFrom, WalletRefusal } from './refusal.ts';
import { SectionNotice } from './section-notice.ts';
import { checkBalance, sendPayment } from './send-payment.ts';
import { fetchSignable, handIn, type Signable, signPayment } from './sign-payment.ts';
import { fillText, type IslandTexts } from './texts.ts';
import { markBusy, showWalletButtons } from './wallet-buttons.ts';
import { type FoundWallet, knownAccounts, requestAccount } from './wallets.ts';

/** The provider may know a transaction later than the wallet's node, so its hash is submitted several times. */
const reportAfterMs = [0, 3_000, 8_000, 20_000];
const answerMs = 8_000;

type Page = {
  root: HTMLElement;
  path: string;
  texts: IslandTexts;
  /** Polls the state at once. */
  askNow(): void;
  /** Called when the section may be replaced again. */
  released(): void;
  /** What is due by the newest state, which the section does not show while a wallet is asked; null if nothing is. */
  due(): Orders | null;
  /** Shows a text beside the section, which may be gone; '' shows none. */
  warn(text: string): void;
};

/** A payment that a wallet only signs. `sent` is called when nothing else may be paid any more. */
type Signing = {
  wallet: FoundWallet;
  account: string;
  option: PayOption;
  signable: Signable;
  tell: (text: string) => void;
  sent: (text: string) => void;
};

/** Pays with the wallets of this browser. */
export class PaymentMethods {
  readonly #page: Page;
  readonly #choice = new OptionChoice();
  #wallets: FoundWallet[] = [];
  /** `connecting`: another wallet may be chosen instead. From `asking` on, a second press could pay twice. */
  #step: 'idle' | 'connecting' | 'asking' | 'sent' = 'idle';
  #running: FoundWallet | null = null;
  /** What the running wallet is asked to pay. */
  #asked: PayOption | null = null;
  #run = 0;
  /** By run: its wallet still asks for what is not due. The newest shows; an earlier wallet may answer after it. */
  readonly #warnings = new Map<number, string>();
  #kind = '';
  readonly #notice = new SectionNotice(() => this.#place('.told'));
  /** Whether to pay by a signature alone, as the person chose; null: only if the wallet has no coin for fees. */
  #feeless: boolean | null = null;
  /** Whether the payment in progress is only signed. */
  #signing = false;
  #lazy: LazyWallet | null = null;

  constructor(page: Page) {
    this.#page = page;
    addEventListener('pagehide', () => void this.#lazy?.provider.leave());
  }

  /** Whether a wallet is being asked, so that the section must not be replaced. */
  get busy(): boolean {
    return this.#step !== 'idle';
  }

  show(wallets: FoundWallet[] = this.#wallets): void {
    const known = new Set(this.#wallets.map(({ info }) => info.uuid));
    const fresh = wallets.filter(({ info }) => !known.has(info.uuid));
    this.#wallets = wallets;
    const section = this.#section();
    if (!section) {
      this.#withdraw('decline');
      this.#end();
      void this.#lazy?.provider.leave();
      return;
    }
    const { rest, options } = ordersOf(section);
    const { payWith, payRest } = this.#page.texts;
    this.#choice.show(section);
    this.#showFeeless(section);
    this.#notice.showAgain();
    const lazy = section.querySelector<HTMLElement>('.late');
    if (lazy) lazy.hidden = false;
    const place = this.#place('.wallets');
    if (place) {
      showWalletButtons(place, wallets, ({ info }) => fillText(rest ? payRest : payWith, { wallet: info.name }));
    }
    const phone = section.querySelector<HTMLDetailsElement>('.phone');
    // A wallet in this browser is the easier way.
    if (phone && wallets.length > 0 && !phone.dataset.seen) {
      phone.dataset.seen = 'yes';
      phone.open = false;
    }
    for (const wallet of fresh) void this.#lookForFunds(section, wallet, options);
  }

  /** Handles a new state of the payment: the server has seen what was sent, or something else is due, or nothing is. */
  hear(kind: string): void {
    if (this.#step === 'sent' && kind !== this.#kind) this.#end();
    if (kind !== this.#kind && !this.busy) this.#notice.forget();
    this.#kind = kind;
    const due = this.#asked && this.#dueOf(this.#asked);
    if (due && due.micro !== this.#asked?.micro) this.#withdraw('declineChanged');
  }

  /** Handles a wallet's button, or a network's chip, which arrow keys press too, and which may be the chosen one. */
  pressed(target: Element): void {
    const section = this.#section();
    if (!section?.contains(target)) return;
    const uuid = target.closest<HTMLElement>('[data-wallet]')?.dataset.wallet;
    const wallet = uuid === LazyWallet.uuid ? this.#lazyWallet() : this.#wallets.find(({ info }) => info.uuid === uuid);
    if (wallet) void this.#pay(section, wallet);
    const input = target.matches('input') ? (target as HTMLInputElement) : null;
    // While a payment is in progress, the choice cannot change.
    if (input?.name === 'option') {
      if (this.busy) this.#choice.show(section);
      else this.#choice.choose(section, Number(input.value), true);
    }
    if (input?.name === 'feeless' && !this.busy) this.#feeless = input.checked;
    if (input) this.#showFeeless(section);
  }

  /** Offers to pay by a signature alone, if that is possible with the chosen option. */
  #showFeeless(section: HTMLElement): void {
    const place = section.querySelector<HTMLElement>('.feeless');
    const box = place?.querySelector('input');
    if (!place || !box) return;
    const canSign = this.#wallets.length > 0 || section.querySelector('.late') !== null;
    place.hidden = !canSign || !this.#choice.chosen(ordersOf(section).options)?.feeless;
    box.checked = this.#running ? this.#signing : (this.#wantsFeeless(section) ?? false);
  }

  /** What the person chose, or what the page proposes; null: it depends on whether the wallet has coin for fees. */
  #wantsFeeless(section: HTMLElement): boolean | null {
    const usual = section.querySelector<HTMLElement>('[name="feeless"]')?.dataset.usual === 'yes';
    return this.#feeless ?? (usual || null);
  }

  async #pay(section: HTMLElement, wallet: FoundWallet): Promise<void> {
    if (this.#step === 'asking' || this.#step === 'sent' || this.#running === wallet) return;
    const run = ++this.#run;
    const isOver = () => run !== this.#run;
    const { options, suffix } = ordersOf(section);
    let option = this.#choice.chosen(options);
    const tell = (text: string, values: Record<string, string> = {}, isFault = false) => {
      if (isOver() || !option) return;
      const { chain, symbol: token } = option;
      const known = { wallet: wallet.info.name, network: chain.name, token, coin: chain.coin };
      this.#notice.show(fillText(this.#page.texts[text], { ...known, ...values }), isFault);
    };
    this.#step = 'connecting';
    this.#running = wallet;
    markBusy(section, wallet);
    const pairing = this.#place('.pairing');
    if (pairing) pairing.hidden = true;
    try {
      tell(wallet === this.#lazy ? 'pairing' : 'connecting');
      const account = await requestAccount(wallet).catch((error) => Promise.reject(refusalFrom(error, 'noAccount')));
      if (!account) throw new WalletRefusal('noAccount');
      if (isOver()) return;
      markBusy(section, wallet);
      await this.#choice.preferFunded(section, wallet, account, options);
      option = this.#choice.chosen(options);
      if (!option || isOver()) return;
      await ensureNetwork(wallet, option.chain, () => tell('switching'));
      // A part may have arrived while the wallet waited for its owner.
      const due = this.#dueOf(option);
      if (!due) throw new WalletRefusal('changed');
      option = due;
      await checkBalance(wallet, account, option);
      if (isOver()) return;
      this.#step = 'asking';
      this.#asked = option;
      const signable = await this.#fetchSignable(section, option, account);
      if (isOver()) return;
      const sent = (text: string) => {
        if (isOver()) return;
        this.#step = 'sent';
        tell(text);
      };
      if (signable) await this.#paySigned({ wallet, account, option, signable, tell, sent });
      else tell('confirm');
      const hash = signable ? null : await sendPayment(wallet, account, option, suffix, () => sent('sent'));
      await this.#report(hash, isOver);
      tell('unseen');
    } catch (error) {
      // Before the wallet was asked to pay, nothing can have been sent.
      const { text, values } = refusalFrom(error, this.#step === 'connecting' ? 'away' : 'failed');
      const instead = text === 'fee' && option?.feeless;
      if (instead && !isOver()) this.#feeless = true;
      tell(instead ? 'feeInstead' : text, values, true);
    } finally {
      this.#warn(run, '');
      if (!isOver()) this.#free();
    }
  }

  /** The payment is not needed any more, but the wallet still asks for it, and no page can take its question back. */
  #withdraw(text: 'decline' | 'declineChanged'): void {
    if (this.#step !== 'asking' || !this.#running) return;
    this.#warn(this.#run, fillText(this.#page.texts[text], { wallet: this.#running.info.name }));
  }

  #warn(run: number, text: string): void {
    this.#page.warn([...this.#warnings.set(run, text).values()].findLast(Boolean) ?? '');
  }

  /** The same token on the same network, with what is due now; undefined if it is not offered any more. */
  #dueOf({ chain, token }: PayOption): PayOption | undefined {
    return this.#page.due()?.options.find((one) => one.chain.chainId === chain.chainId && one.token === token);
  }

  /**
   * What the account must sign if it pays by a signature alone, because the person chose to, or because it has no coin
   * for the fee. Null if it sends the payment itself.
   */
  async #fetchSignable(section: HTMLElement, option: PayOption, account: string): Promise<Signable | null> {
    this.#signing = false;
    const wants = this.#wantsFeeless(section);
    if (!option.feeless || wants === false) return null;
    const asked = fetchSignable(this.#page.path, option, account);
    const signable = wants ? await asked : await asked.catch(() => null);
    this.#signing = signable !== null && (wants ?? signable.lacksCoin === true);
    this.#showFeeless(section);
    return this.#signing ? signable : null;
  }

  async #paySigned({ wallet, account, option, signable, tell, sent }: Signing): Promise<void> {
    tell(signable.lacksCoin && !this.#feeless ? 'noCoin' : 'signPayment');
    const signature = await signPayment(wallet, account, signable);
    sent('handingIn');
    await handIn(this.#page.path, option, account, signable, signature);
    sent('handedIn');
  }

  /** Submits the hash until the page shows the transaction. It is only a hint. Once, if the payment came too late. */
  async #report(hash: string | null, isOver: () => boolean): Promise<void> {
    for (const afterMs of reportAfterMs) {
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      if (isOver() && afterMs > 0) return;
      if (hash) {
        const body = new URLSearchParams({ tx_hash: hash });
        const signal = AbortSignal.timeout(answerMs);
        await fetch(`${this.#page.path}/proof`, { method: 'POST', body, signal }).catch(() => {});
      }
      this.#page.askNow();
    }
  }

  /** Reads the balances of a wallet that is already connected to this page, which needs no consent. */
  async #lookForFunds(section: HTMLElement, wallet: FoundWallet, options: PayOption[]): Promise<void> {
    if (options.length < 2) return;
    const [account] = await knownAccounts(wallet);
    if (account && !this.busy) await this.#choice.preferFunded(section, wallet, account, options);
  }

  #lazyWallet(): LazyWallet | null {
    const offer = this.#place('.late')?.dataset.offer;
    if (!this.#lazy && offer) {
      this.#lazy = new LazyWallet({
        offer: JSON.parse(offer) as LazyOffer,
        methods: ['eth_sendTransaction', 'eth_signTypedData_v4'],
        chainIds: () => {
          const section = this.#section();
          const options = section ? ordersOf(section).options : [];
          const chosen = this.#choice.chosen(options)?.chain.chainId ?? 0;
          return [...new Set([chosen, ...options.map(({ chain }) => chain.chainId)])];
        },
        place: () => this.#place('.pairing'),
        shown: () => this.#codeShown(),
      });
    }
    return this.#lazy;
  }

  /** A code waits to be scanned. Another wallet can be chosen instead. */
  #codeShown(): void {
    this.#notice.show('');
    const section = this.#section();
    if (section) markBusy(section, null);
    const phone = section?.querySelector<HTMLDetailsElement>('.phone');
    if (phone) phone.open = false;
  }

  #end(): void {
    if (!this.busy) return;
    this.#run++;
    this.#notice.show('');
    this.#free();
  }

  #free(): void {
    this.#step = 'idle';
    this.#running = null;
    this.#asked = null;
    const section = this.#section();
    if (section) {
      markBusy(section, null);
      this.#showFeeless(section);
    }
    this.#page.released();
  }

  #section(): HTMLElement | null {
    return methodsIn(this.#page.root);
  }

  #place(name: string): HTMLElement | null | undefined {
    return this.#section()?.querySelector<HTMLElement>(name);
  }
}
