import type { Context } from '../context.ts';
import { Refusal, refuse } from '../errors.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { Batcher } from '../lib/concurrency/batcher.ts';
import { Tarpit } from '../lib/concurrency/tarpit.ts';
import { type HashedKey, partnersOfKeys } from './gate.ts';
import { MissingSecretKey, refuseUnknownKey } from './missing-secret-key.ts';

const windowMs = 10_000;

/**
 * Looks up the partners of keys that this node does not know. Anybody can invent keys with a valid checksum, so many
 * are looked up in one statement. A client that tries more unknown keys than it may open pages is answered a second
 * later. A key that exists is never delayed, whatever else comes from its address.
 */
export class KeyOwners {
  readonly #ctx: Context;
  readonly #lookups: Batcher<HashedKey, string | null>;
  readonly #unknown: AttemptLimit;
  readonly #tarpit = new Tarpit();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#lookups = new Batcher(
      (keys) => partnersOfKeys(ctx.db.sql, keys),
      () => refuse('unavailable'),
    );
    this.#unknown = new AttemptLimit(ctx.config.pageLimit, windowMs);
  }

  /**
   * @param deadline the time (ms of `performance.now()`) at which its client is answered in any case; no look-up begins
   * later
   * @returns the id of its partner
   * @throws Refusal unauthorized if the key does not exist, has ended or was revoked; unavailable
   */
  async find(named: HashedKey, deadline: number): Promise<string> {
    const partner = await this.#lookups.ask(named, deadline);
    if (partner === null) throw await refuseUnknownKey(this.#ctx);
    return partner;
  }

  /** Returns when the client may be answered: at once, or a second later if its key is one of many unknown ones. */
  async beforeAnswer(error: unknown, ip: string): Promise<void> {
    const isUnknown = error instanceof MissingSecretKey || (error instanceof Refusal && error.code === 'unauthorized');
    if (!isUnknown) return;
    if (!this.#unknown.take(clientSubject(ip), this.#ctx.clock.now())) await this.#tarpit.wait();
  }

  /** Ends all delays. From now on nothing is delayed. */
  end(): void {
    this.#tarpit.end();
  }
}
