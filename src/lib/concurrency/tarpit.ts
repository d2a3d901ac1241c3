import { pause } from '../time.ts';

/** How long a refusal is delayed, and how many may be delayed at once. */
const holdMs = 1_000;
const maxHeld = 1_000;

/** Delays refusals by a second, to slow down a program that retries at once. */
export class Tarpit {
  readonly #ending = new AbortController();
  #held = 0;

  /** Returns after a second; at once if too many are already delayed, or once this has ended. */
  async wait(): Promise<void> {
    if (this.#held >= maxHeld) return;
    this.#held++;
    await pause(holdMs, this.#ending.signal);
    this.#held--;
  }

  /** Ends all delays. From now on nothing is delayed. */
  end(): void {
    this.#ending.abort();
  }
}
