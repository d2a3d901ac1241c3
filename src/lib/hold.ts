import { pause } from './time.ts';

/** So long, and so many at once. */
const holdMs = 1_000;
const mostHeld = 1_000;

/** Holds back refusals for a second, to slow down a program that tries again at once. */
export class Hold {
  readonly #ending = new AbortController();
  #held = 0;

  /** Returns after a second; at once where too many are held already, or once it has ended. */
  async wait(): Promise<void> {
    if (this.#held >= mostHeld) return;
    this.#held++;
    await pause(holdMs, this.#ending.signal);
    this.#held--;
  }

  /** Holds back nothing any longer. */
  end(): void {
    this.#ending.abort();
  }
}
