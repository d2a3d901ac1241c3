/**
 * Counts the slots that holders have taken in this process, with a limit for each holder and for all. Holders can be
 * nested: a merchant within its partner, a user within its group. A holder is never a session, because anybody can have
 * many sessions.
 */
export class Slots {
  readonly #max: readonly number[];
  #taken = new Map<string, number>();

  /** @param max how many slots all holders may have, then one of them, then one within that, and so on */
  constructor(...max: number[]) {
    this.#max = max;
  }

  /**
   * Takes a slot; false if there is none.
   *
   * @param holder its name, after the names of the holders that it is within
   */
  take(...holder: string[]): boolean {
    const keys = keysOf(holder);
    const taken = keys.map((key) => this.#taken.get(key) ?? 0);
    if (!hasSlot(taken, this.#max)) return false;
    for (const [level, key] of keys.entries()) this.#taken.set(key, (taken[level] ?? 0) + 1);
    return true;
  }

  /** Gives back a slot that was taken. */
  leave(...holder: string[]): void {
    for (const key of keysOf(holder)) {
      const left = (this.#taken.get(key) ?? 0) - 1;
      if (left > 0) this.#taken.set(key, left);
      else this.#taken.delete(key);
    }
  }
}

/** One key for all holders, then one for each name. */
const keysOf = (holder: string[]) => ['', ...holder.map((_, level) => `\n${holder.slice(0, level + 1).join('\n')}`)];

/**
 * Whether a holder may take one more slot. A holder leaves the others as many as it has taken, so a few cannot take
 * all.
 *
 * @param taken how many all holders have taken, then the one that asks or is asked within, and so on
 * @param max how many each of these may have
 */
export function hasSlot(taken: readonly number[], max: readonly number[]): boolean {
  return taken.every((count, level) => count + (taken[level + 1] ?? 0) < (max[level] ?? 0));
}

/**
 * Takes a slot from each of these for its holder, or none at all.
 *
 * @returns a function that gives the slots back; null if one of them has none left
 */
export function takeEach(...wanted: (readonly [Slots, string])[]): (() => void) | null {
  const taken: typeof wanted = [];
  const leave = () => {
    for (const [slots, holder] of taken) slots.leave(holder);
  };
  for (const one of wanted) {
    const [slots, holder] = one;
    if (!slots.take(holder)) {
      leave();
      return null;
    }
    taken.push(one);
  }
  return leave;
}
