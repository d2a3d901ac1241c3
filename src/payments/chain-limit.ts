import type { Scope } from '../db/connection.ts';
import { AttemptLimit } from '../lib/attempts.ts';

/**
 * Limits what this process asks of a chain's endpoints for strangers: for one partner and mode, so that a partner's
 * strangers do not use up the others' part, and for all, so that verifying payments keeps the calls that it needs.
 */
export class ChainLimit {
  readonly #ofOne: AttemptLimit;
  readonly #ofAll: AttemptLimit;

  constructor(most: { ofOne: number; ofAll: number }, windowMs: number) {
    this.#ofOne = new AttemptLimit(most.ofOne, windowMs);
    this.#ofAll = new AttemptLimit(most.ofAll, windowMs);
  }

  /** Counts one question; false when the window is used up. */
  take(chainId: number, { partnerId, testMode }: Scope, now: Date): boolean {
    return this.#ofOne.take(`${chainId} ${partnerId} ${testMode}`, now) && this.#ofAll.take(String(chainId), now);
  }
}
