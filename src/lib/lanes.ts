import { missedTurn } from './missed-turn.ts';

/** The work of one key: how much of it runs, and what waits. */
type Lane = { running: number; waiting: Set<() => void> };

/** Limits how much work of each key runs at once. The rest waits in order, and holds nothing meanwhile. */
export class Lanes {
  readonly #most: number;
  readonly #longestWaitMs: number | null;
  readonly #lanes = new Map<string, Lane>();

  /**
   * @param longestWaitMs work that waits longer fails, with the error code of a wait for a connection; null: no limit
   */
  constructor(most: number, longestWaitMs: number | null = null) {
    this.#most = most;
    this.#longestWaitMs = longestWaitMs;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(key, lane);
    if (lane.running < this.#most) lane.running++;
    else await this.#wait(lane);
    try {
      return await work();
    } finally {
      const [next] = lane.waiting;
      if (next) next();
      else if (--lane.running === 0) this.#lanes.delete(key);
    }
  }

  #wait({ waiting }: Lane): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      clearTimeout(timer);
      waiting.delete(begin);
    };
    const begin = () => {
      leave();
      resolve();
    };
    const giveUp = () => {
      leave();
      reject(missedTurn());
    };
    const timer = this.#longestWaitMs === null ? undefined : setTimeout(giveUp, this.#longestWaitMs);
    waiting.add(begin);
    return promise;
  }
}
