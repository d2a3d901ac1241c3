import { refuse } from '../errors.ts';
import { Lanes } from '../lib/concurrency/lanes.ts';
import { keepNewest } from '../lib/keep-newest.ts';

/**
 * How many calls of one key and endpoint, and of one partner, run at once on a node. Calls of one key and endpoint wait
 * for each other's count in the database anyway. A partner can never use all connections, whatever its calls wait for.
 */
const maxOfKey = 2;
const maxOfPartner = 3;
/** How many keys are remembered; a forgotten key's partner is looked up again. */
const maxKept = 10_000;

/** A call that takes its turn. */
export type WaitingCall = {
  keyHash: string;
  endpoint: string;
  /**
   * The time (ms of `performance.now()`) at which its client is answered in any case; the call does not begin later.
   */
  deadline: number;
  /** Looks up whose key it is, without waiting for a turn: a key's first call counts as its partner's, too. */
  findPartner(): Promise<string>;
};

/** Shares the connections of the API among its callers. A call that waits for its turn holds none. */
export class FairShares {
  readonly #ofKeys = new Lanes(maxOfKey);
  readonly #ofPartners = new Lanes(maxOfPartner);
  readonly #partners = new Map<string, string>();

  /**
   * Runs the work of a call when its turn comes.
   *
   * @throws Refusal unavailable; what `findPartner` throws
   */
  run<T>({ keyHash, endpoint, deadline, findPartner }: WaitingCall, work: () => Promise<T>): Promise<T> {
    const mustBeInTime = () => {
      if (performance.now() >= deadline) throw refuse('unavailable');
    };
    return this.#ofKeys.run(`${keyHash} ${endpoint}`, async () => {
      mustBeInTime();
      const partner = this.#partners.get(keyHash) ?? (await findPartner());
      keepNewest(this.#partners, keyHash, partner, maxKept);
      return this.#ofPartners.run(partner, async () => {
        mustBeInTime();
        return work();
      });
    });
  }
}
