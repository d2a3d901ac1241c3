import { announceIn } from './lib/announce.ts';
import { copyFrom } from './lib/copy.ts';
import { type LazyOffer, LazyWallet } from './lib/lazy-wallet.ts';
import { localTimes } from './lib/local-times.ts';
import './lib/notice-once.ts';
import { type PlanOrders, type PlanPlace, runAct } from './lib/plan-acts.ts';
import { signStop } from './lib/plan-stop.ts';
import { refusalFrom } from './lib/refusal.ts';
import { fillText, type IslandTexts } from './lib/texts.ts';
import { findWallets, markBusy, showWalletButtons } from './lib/wallet-buttons.ts';
import type { FoundWallet } from './lib/wallets.ts';

const labels: Record<string, string> = { agree: 'agreeWith', raise: 'raiseWith', revoke: 'revokeWith' };

/** The page of a plan: has a wallet sign the terms, the allowance, or the end of charges. */
class PlanPage {
  readonly #root: HTMLElement;
  readonly #texts: IslandTexts;
  readonly #path: string;
  readonly #lazy = new Map<HTMLElement, LazyWallet>();
  #wallets: FoundWallet[] = [];
  #busy = false;
  #turn = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#texts = JSON.parse(root.dataset.texts ?? '{}') as IslandTexts;
    this.#path = root.dataset.path ?? location.pathname;
    for (const button of root.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
    localTimes(root);
    this.#show();
    findWallets(this.#texts.browserWallet ?? '', (found) => {
      this.#wallets = found;
      this.#show();
    });
    root.addEventListener('click', ({ target }) => this.#pressed(target as Element));
    root.addEventListener('submit', (event) => {
      const form = event.target as HTMLFormElement;
      if (!form.dataset.stop || form.dataset.signed) return;
      event.preventDefault();
      void this.#stop(form, JSON.parse(form.dataset.stop));
    });
    addEventListener('pagehide', () => {
      for (const wallet of this.#lazy.values()) void wallet.provider.leave();
    });
  }

  #sections(): HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>('[data-act]')];
  }

  #show(): void {
    for (const section of this.#sections()) {
      const late = section.querySelector<HTMLElement>('.late');
      if (late) late.hidden = false;
      const place = section.querySelector<HTMLElement>('.wallets');
      const text = this.#texts[labels[section.dataset.act ?? ''] ?? ''];
      if (place) showWalletButtons(place, this.#wallets, ({ info }) => fillText(text, { wallet: info.name }));
      const phone = section.querySelector<HTMLDetailsElement>('.phone');
      // A wallet in this browser is the easier way.
      if (phone && this.#wallets.length > 0 && !phone.dataset.seen) {
        phone.dataset.seen = 'yes';
        phone.open = false;
      }
    }
  }

  #pressed(target: Element): void {
    const copy = target.closest<HTMLElement>('[data-copy]');
    const say = this.#root.querySelector('[data-say]');
    if (copy && say) {
      void copyFrom(
        copy,
        (text) => {
          say.textContent = text;
        },
        this.#texts.copied ?? '',
      );
    }
    const section = target.closest<HTMLElement>('[data-act]');
    const uuid = target.closest<HTMLElement>('[data-wallet]')?.dataset.wallet;
    if (!section || uuid === undefined) return;
    const wallet =
      uuid === LazyWallet.uuid ? this.#lazyWallet(section) : this.#wallets.find(({ info }) => info.uuid === uuid);
    if (wallet) void this.#run(section, wallet);
  }

  async #run(section: HTMLElement, wallet: FoundWallet): Promise<void> {
    const place = this.#placeIn(section);
    if (this.#busy || !place) return;
    this.#busy = true;
    const turn = ++this.#turn;
    const isOver = () => turn !== this.#turn;
    markBusy(section, wallet);
    const orders = ordersOf(section);
    const known = () => ({
      wallet: wallet.info.name,
      network: place.chain.name,
      token: place.symbol,
      contract: place.contract,
      coin: place.chain.coin,
    });
    const tell = (text: string, values: Record<string, string> = {}, isFault = false) => {
      if (isOver()) return;
      const sentence = fillText(this.#texts[text], { ...known(), ...values });
      announceIn(section.querySelector<HTMLElement>(':scope .told'), sentence, isFault);
    };
    try {
      const lazy = this.#lazy.get(section) === wallet;
      tell(lazy ? 'pairing' : 'connecting');
      const done = await runAct({
        act: section.dataset.act ?? '',
        path: this.#path,
        place,
        orders,
        wallet,
        charges: section.querySelector<HTMLSelectElement>('select[name="charges"]')?.value ?? '',
        tell,
        limitless: this.#texts.limitless ?? '',
        confirm: () => this.#confirm(section, wallet),
        connected: () => {
          if (isOver()) return false;
          this.#busy = true;
          markBusy(section, wallet);
          return true;
        },
      });
      if (done) location.assign(`${this.#path}?done=${done}`);
    } catch (error) {
      const { text, values } = refusalFrom(error, 'notSigned');
      tell(text, values, true);
    }
    if (isOver()) return;
    this.#busy = false;
    markBusy(section, null);
  }

  /** Shows a separate button for a step that costs a fee. Once pressed it is gone, and the focus is on the wallet's. */
  #confirm(section: HTMLElement, { info }: FoundWallet): Promise<void> {
    const place = section.querySelector<HTMLElement>('.next');
    return new Promise((resolve) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = this.#texts.approve ?? '';
      button.addEventListener('click', () => {
        if (place) place.hidden = true;
        section.querySelector<HTMLElement>(`[data-wallet="${CSS.escape(info.uuid)}"]`)?.focus();
        resolve();
      });
      place?.replaceChildren(button);
      if (place) place.hidden = false;
      button.focus();
    });
  }

  async #stop(form: HTMLFormElement, order: Parameters<typeof signStop>[0]): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const messageBox = form.querySelector<HTMLElement>('.told');
    const field = form.elements.namedItem('signature') as HTMLInputElement;
    const button = form.querySelector('button');
    const outcome = await signStop(order, this.#wallets, (text, wallet) => {
      announceIn(messageBox, fillText(this.#texts[text], { wallet }));
      // A second press stops without a signature: the wallet may never answer.
      form.dataset.signed = 'yes';
      if (button) button.textContent = this.#texts.stopUnsigned ?? '';
    });
    this.#busy = false;
    if (outcome.kind === 'declined') {
      announceIn(messageBox, fillText(this.#texts.notStopped, { wallet: outcome.wallet }), true);
      return;
    }
    form.dataset.signed = 'yes';
    field.value = outcome.signature;
    form.requestSubmit();
  }

  #placeIn(section: HTMLElement): PlanPlace | undefined {
    const chosen = section.querySelector<HTMLInputElement>('input[name="option"]:checked');
    return ordersOf(section).options[Number(chosen?.value ?? 0)];
  }

  #lazyWallet(section: HTMLElement): LazyWallet | undefined {
    const known = this.#lazy.get(section);
    const offer = section.querySelector<HTMLElement>('.late')?.dataset.offer;
    if (known || !offer) return known;
    const wallet = new LazyWallet({
      offer: JSON.parse(offer) as LazyOffer,
      methods: ['eth_sendTransaction', 'eth_signTypedData_v4'],
      chainIds: () => {
        const all = ordersOf(section).options.map(({ chain }) => chain.chainId);
        return [...new Set([this.#placeIn(section)?.chain.chainId ?? 0, ...all])];
      },
      place: () => section.querySelector<HTMLElement>('.pairing'),
      // A code waits to be scanned. Another wallet can be chosen instead.
      shown: () => {
        this.#busy = false;
        announceIn(section.querySelector<HTMLElement>('.told'), '');
        markBusy(section, null);
      },
    });
    this.#lazy.set(section, wallet);
    return wallet;
  }
}

function ordersOf(section: HTMLElement): PlanOrders {
  return JSON.parse(section.dataset.orders ?? '{"options":[]}') as PlanOrders;
}

const root = document.getElementById('plan');
if (root) new PlanPage(root);
