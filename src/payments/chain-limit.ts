import type { Scope } from '../db/connection.ts';
import { Slots } from '../lib/concurrency/slots.ts';

/**
 * Limits what this process asks of a chain's endpoints for strangers: for one partner and mode, and for all, so that
 * verifying payments keeps the calls that it needs. A merchant leaves the others of its partner as many as it has used,
 * and so does a partner the other partners: whoever can make requests cannot use up everybody's part.
 */
export class ChainLimit {
  readonly #max: { ofOne: number; ofAll: number };
  readonly #windowMs: number;
  #window = 0;
  #used = new Slots();

  constructor(max: { ofOne: number; ofAll: number }, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /**
   * Counts one question; false when the part of the window is used up.
   *
   * @param party the merchant, or its wallet, for whose request the question is
   */
  take(chainId: number, { partnerId, testMode }: Scope, party: string, now: Date): boolean {
    const window = Math.floor(now.getTime() / this.#windowMs);
    if (window !== this.#window) {
      const { ofAll, ofOne } = this.#max;
      this.#window = window;
      this.#used = new Slots(Number.POSITIVE_INFINITY, ofAll, ofOne, ofOne);
    }
    return this.#used.take(String(chainId), `${partnerId} ${testMode}`, party);
  }
}
