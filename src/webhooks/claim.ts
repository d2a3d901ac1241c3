import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { type ClaimedDelivery, claimDue } from './queue-store.ts';
import type { Frontier } from './receivers-store.ts';
import { maxPosts } from './rules.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * If a claim that looks everywhere takes longer, it counts as slow: it probably reads index entries that lead to
 * nothing.
 */
const slowMs = 50;

/**
 * Claims what is due, one claim after the other. Usually each claim looks everywhere. If that was slow, claims begin
 * where it found something, until they must look everywhere again: only such a claim sees an event that became due in
 * the past meanwhile (it was committed late, its time was set by hand, or the database's clock was set back).
 */
export class Claims {
  readonly #ctx: Context;
  readonly #everywhereEveryMs: number;
  readonly #slowMs: number;
  #frontier: Frontier | null = null;
  #everywhereAt = Number.NEGATIVE_INFINITY;
  #wasSlow = false;
  /** Counts changes that a frontier from before them does not include. */
  #changes = 0;

  /** @param everywhereEveryMs the maximum time between claims that look everywhere */
  constructor(ctx: Context, everywhereEveryMs: number, slow = slowMs) {
    this.#ctx = ctx;
    this.#everywhereEveryMs = everywhereEveryMs;
    this.#slowMs = slow;
  }

  /** Claims what is due, as far as there is room. */
  async next(scheduler: Scheduler, free: number): Promise<ClaimedDelivery[]> {
    if (free <= 0) return [];
    const startedAt = performance.now();
    const changes = this.#changes;
    const known = this.lookEverywhereInMs() > 0 ? this.#frontier : null;
    const { db, config } = this.#ctx;
    const { claimed, frontier } = await claimDue(db.sql, scheduler.rooms(), {
      lease: randomUUID(),
      free: Math.min(free, maxPosts),
      freeUnproven: scheduler.freeUnproven(),
      window: scheduler.window,
      firstWaitMs: config.webhookScheduleMs[0] ?? 0,
      keyIds: config.secretKeys.map(({ id }) => id),
      from: known ?? 'everywhere',
      findsFrontier: this.#wasSlow,
    });
    if (known === null) {
      this.#everywhereAt = startedAt;
      this.#wasSlow = performance.now() - startedAt > this.#slowMs;
    }
    this.#frontier = this.#wasSlow && this.#changes === changes ? frontier : null;
    return claimed;
  }

  /** The next claim looks everywhere: an endpoint may take events that it did not take before. */
  lookEverywhere(): void {
    this.#changes++;
    this.#frontier = null;
  }

  /** How soon a claim must look everywhere; infinite if each does. */
  lookEverywhereInMs(): number {
    if (this.#frontier === null) return Number.POSITIVE_INFINITY;
    return this.#everywhereAt + this.#everywhereEveryMs - performance.now();
  }
}
