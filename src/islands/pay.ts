import { announceIn } from './lib/announce.ts';
import { copyFrom } from './lib/copy.ts';
import { runCountdown } from './lib/countdown.ts';
import { focusAnswer, noticeIn, sendForm } from './lib/forms.ts';
import { fragmentPlaces, isInUse, type PageFragment, replaceFragment } from './lib/fragments.ts';
import { followState, type LiveState } from './lib/live.ts';
import { localTimes } from './lib/local-times.ts';
import { methodsIn, type Orders, ordersOf } from './lib/order.ts';
import { PaymentMethods } from './lib/payment-methods.ts';
import type { IslandTexts } from './lib/texts.ts';
import { findWallets } from './lib/wallet-buttons.ts';
import type { FoundWallet } from './lib/wallets.ts';

/** The pay page: updates itself, offers the wallets of this browser, and shows the results of forms in place. */
class PayPage {
  readonly #root: HTMLElement;
  readonly #texts: IslandTexts;
  readonly #paymentMethods: PaymentMethods;
  readonly #askNow: () => void;
  #wallets: FoundWallet[] = [];
  #latest: LiveState | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#texts = JSON.parse(root.dataset.texts ?? '{}') as IslandTexts;
    const path = root.dataset.path ?? location.pathname;
    const silent = root.querySelector<HTMLElement>('[data-silence]');
    this.#askNow = followState(
      path,
      (state) => this.#hear(state),
      (why) => announceIn(silent, why === null ? '' : (this.#texts[why] ?? '')),
    );
    const released = () => this.#latest && this.#hear(this.#latest);
    const warning = root.querySelector<HTMLElement>('[data-warning]');
    const warn = (text: string) => announceIn(warning, text, true);
    this.#paymentMethods = new PaymentMethods({
      ...{ root, path, texts: this.#texts, askNow: this.#askNow, released, warn },
      due: () => this.#due(),
    });
    this.#enhance(root);
    runCountdown(this.#askNow);
    findWallets(this.#texts.browserWallet ?? '', (found) => {
      this.#wallets = found;
      this.#showWallets();
    });
    root.addEventListener('click', ({ target }) => this.#pressed(target as Element));
    root.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit(event.target as HTMLFormElement, event.submitter);
    });
  }

  /** Shows what works only with script. */
  #enhance(place: HTMLElement): void {
    for (const button of place.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
    localTimes(place);
    this.#showWallets();
  }

  #showWallets(): void {
    this.#paymentMethods.show(this.#wallets);
    if (this.#root.querySelector('form.claim')) void this.#offerSigning();
  }

  /** Loads the code for claims on use, because few payments need it. Without it, the form is filled in by hand. */
  async #offerSigning(): Promise<void> {
    const { offerSigning } = await import('./lib/claim-form.ts');
    offerSigning(this.#root, this.#wallets, this.#texts);
  }

  #hear(state: LiveState): void {
    this.#latest = state;
    document.title = state.title;
    this.#paymentMethods.hear(state.kind);
    this.#putIn(state.parts);
  }

  /**
   * Inserts the fragments that changed.
   *
   * @param answered the fragment whose form was submitted: the result is not part of its version
   */
  #putIn(fragments: PageFragment[], answered?: HTMLElement): void {
    for (const place of fragmentPlaces(this.#root)) {
      const fragment = fragments.find(({ name }) => name === place.dataset.part);
      if (!fragment) continue;
      if (place !== answered && (fragment.version === place.dataset.version || this.#isHeld(place, fragment))) continue;
      replaceFragment(place, fragment, () => this.#enhance(place));
    }
  }

  /** What is due by the newest state, also while the fragment that shows it is held back. */
  #due(): Orders | null {
    const newest = document.createElement('template');
    newest.innerHTML = this.#latest?.parts.find(({ name }) => name === 'ways')?.html ?? '';
    const section = methodsIn(this.#latest ? newest.content : this.#root);
    return section && ordersOf(section);
  }

  /** Whether a fragment must not be replaced because somebody uses it, unless its content no longer applies. */
  #isHeld(place: HTMLElement, { name, html }: PageFragment): boolean {
    if (html === '') return false;
    return name === 'ways' ? this.#paymentMethods.busy : name === 'proof' && isInUse(place);
  }

  #pressed(target: Element): void {
    const copy = target.closest<HTMLElement>('[data-copy]');
    if (copy) void copyFrom(copy, (text) => this.#say(text), this.#texts.copied ?? '');
    this.#paymentMethods.pressed(target);
  }

  /** Sends a form and shows what the page would say, without leaving it. */
  async #submit(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
    const place = form.closest<HTMLElement>('[data-part]');
    if (!place || form.ariaBusy) return;
    const mark = (busy: 'true' | null) => {
      form.ariaBusy = busy;
      if (submitter) submitter.ariaBusy = busy;
    };
    mark('true');
    if (form.dataset.working) announceIn(noticeIn(form), form.dataset.working);
    const answer = await sendForm(form, submitter, this.#texts.unanswered ?? '');
    mark(null);
    if ('notice' in answer) {
      announceIn(noticeIn(form), answer.notice, true);
      return;
    }
    document.title = answer.title;
    this.#putIn(answer.fragments, place);
    focusAnswer(place);
    this.#askNow();
  }

  /** Announces a text to screen readers only, because the page shows it in another way. */
  #say(text: string): void {
    const place = this.#root.querySelector('[data-say]');
    if (place) place.textContent = text;
  }
}

const root = document.getElementById('checkout');
if (root) new PayPage(root);
