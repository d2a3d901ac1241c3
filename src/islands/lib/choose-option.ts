import { balances } from './funds.ts';
import type { PayOption } from './order.ts';
import type { FoundWallet } from './wallets.ts';

/** The network and token to pay with: what the person chose, else the first of which the wallet holds enough. */
export class OptionChoice {
  #index = 0;
  #byPerson = false;
  /** The options' indexes in the order of the chips. Empty: the order in which the server sends them. */
  #order: number[] = [];

  chosen(options: PayOption[]): PayOption | undefined {
    return options[this.#index] ?? options[0];
  }

  /** Shows the chips and only the instructions of the chosen option. */
  show(section: HTMLElement): void {
    const chips = section.querySelector<HTMLElement>('.chips');
    if (!chips) return;
    chips.hidden = false;
    this.#arrange(chips);
    for (const input of chips.querySelectorAll('input')) input.checked = Number(input.value) === this.#index;
    for (const part of section.querySelectorAll<HTMLElement>('[data-option]')) {
      part.hidden = Number(part.dataset.option) !== this.#index;
    }
  }

  choose(section: HTMLElement, index: number, byPerson: boolean): void {
    this.#index = index;
    this.#byPerson ||= byPerson;
    this.show(section);
  }

  /** Puts options of which the account holds enough first, and chooses the first unless the person has chosen. */
  async preferFunded(section: HTMLElement, wallet: FoundWallet, account: string, options: PayOption[]): Promise<void> {
    const chips = section.querySelector<HTMLElement>('.chips');
    if (!chips) return;
    const held = await balances(wallet, account, options);
    const rank = (option: PayOption) => {
      const balance = held.get(option) ?? 0n;
      return balance >= BigInt(option.micro) ? 0 : balance > 0n ? 1 : 2;
    };
    const order = options.map((option, index) => ({ index, rank: rank(option) })).sort((a, b) => a.rank - b.rank);
    this.#order = order.map(({ index }) => index);
    this.#arrange(chips);
    const [first] = order;
    if (first?.rank === 0 && !this.#byPerson) this.choose(section, first.index, false);
  }

  /** Moves the chips into their order, which those of a new section do not have yet. */
  #arrange(chips: HTMLElement): void {
    const labels = [...chips.querySelectorAll('label')];
    const labelOf = (index: number) => labels.find((one) => Number(one.querySelector('input')?.value) === index);
    const focused = document.activeElement;
    for (const index of this.#order) chips.append(labelOf(index) ?? '');
    if (focused instanceof HTMLElement && chips.contains(focused)) focused.focus();
  }
}
