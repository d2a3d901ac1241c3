/**
 * Limits how many streams or exports are open in this process, for one holder and for all together. A holder leaves the
 * others as many places as it has, so a few holders cannot take all. A holder is a user or merchant, never a session,
 * because anybody can have many sessions.
 */
export class Places {
  readonly #max: number;
  readonly #maxOfOne: number;
  #taken = 0;
  #byHolder = new Map<string, number>();

  constructor(max = 5_000, maxOfOne = 20) {
    this.#max = max;
    this.#maxOfOne = maxOfOne;
  }

  /** How many a holder has. */
  takenBy(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /** Takes a place; false if there is none. */
  take(holder: string): boolean {
    const taken = this.takenBy(holder);
    if (taken >= this.#maxOfOne || taken >= this.#max - this.#taken) return false;
    this.#taken++;
    this.#byHolder.set(holder, taken + 1);
    return true;
  }

  /** Returns a place that was taken. */
  leave(holder: string): void {
    const left = this.takenBy(holder) - 1;
    this.#taken--;
    if (left > 0) this.#byHolder.set(holder, left);
    else this.#byHolder.delete(holder);
  }
}

/**
 * Takes a place from each of these for its holder, or none at all.
 *
 * @returns a function that returns the places; null if one of them has none left
 */
export function takeEach(...wanted: (readonly [Places, string])[]): (() => void) | null {
  const taken: typeof wanted = [];
  const leave = () => {
    for (const [places, holder] of taken) places.leave(holder);
  };
  for (const one of wanted) {
    const [places, holder] = one;
    if (!places.take(holder)) {
      leave();
      return null;
    }
    taken.push(one);
  }
  return leave;
}
