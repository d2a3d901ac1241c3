import { turnTimeout } from './turn-timeout.ts';

/** The work of one key: how much of it runs, and what waits. */
type Lane = { running: number; waiting: Set<() => void> };

/**
 * Limits how much work runs at once, per key and for all together. The rest waits, and holds nothing meanwhile. The
 * work of one key waits in order; among the keys, the one with the least running work comes next. A key's work begins
 * only while more than twice as much room is free as the key already takes, so a few keys cannot take all of it.
 */
export class Lanes {
  readonly #maxOfOne: number;
  readonly #max: number;
  readonly #maxWaitMs: number | null;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes whose next work waits only for room; the one whose turn was longest ago comes first. */
  readonly #ready = new Set<Lane>();
  #running = 0;

  /**
   * @param maxOfOne how much work of one key runs at once
   * @param max how much work of all keys together runs at once
   * @param maxWaitMs work that waits longer fails, with the error code of a wait for a connection; null: no limit
   */
  constructor(maxOfOne: number, max = Number.POSITIVE_INFINITY, maxWaitMs: number | null = null) {
    this.#maxOfOne = maxOfOne;
    this.#max = max;
    this.#maxWaitMs = maxWaitMs;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(key, lane);
    if (lane.running < this.#maxOfOne && this.#hasRoom(lane)) this.#begin(lane);
    else await this.#wait(key, lane);
    try {
      return await work();
    } finally {
      lane.running--;
      this.#running--;
      if (lane.waiting.size > 0) this.#ready.add(lane);
      else if (lane.running === 0) this.#lanes.delete(key);
      this.#next();
    }
  }

  #hasRoom({ running }: Lane): boolean {
    return this.#max - this.#running > 2 * running;
  }

  #begin(lane: Lane): void {
    lane.running++;
    this.#running++;
  }

  #next(): void {
    while (this.#ready.size > 0) {
      let least: Lane | undefined;
      for (const lane of this.#ready) if (!least || lane.running < least.running) least = lane;
      if (!least || !this.#hasRoom(least)) return;
      const [go] = least.waiting;
      go?.();
    }
  }

  #wait(key: string, lane: Lane): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { waiting } = lane;
    const go = () => {
      clearTimeout(timer);
      this.#begin(lane);
      waiting.delete(go);
      this.#ready.delete(lane);
      if (waiting.size > 0 && lane.running < this.#maxOfOne) this.#ready.add(lane);
      resolve();
    };
    // Its lane keeps its place among the others: the work behind it has waited, too.
    const giveUp = () => {
      waiting.delete(go);
      if (waiting.size === 0) this.#ready.delete(lane);
      if (waiting.size === 0 && lane.running === 0) this.#lanes.delete(key);
      reject(turnTimeout());
    };
    const timer = this.#maxWaitMs === null ? undefined : setTimeout(giveUp, this.#maxWaitMs);
    waiting.add(go);
    if (lane.running < this.#maxOfOne) this.#ready.add(lane);
    return promise;
  }
}
