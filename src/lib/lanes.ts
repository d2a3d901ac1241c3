/** Work of one key: how much of it runs, and what waits. */
type Lane = { running: number; waiting: Array<() => void> };

/** Lets so much work of each key run at once. The rest waits in order, and holds nothing meanwhile. */
export class Lanes {
  readonly #most: number;
  readonly #lanes = new Map<string, Lane>();

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: [] };
    this.#lanes.set(key, lane);
    if (lane.running < this.#most) lane.running++;
    else await new Promise<void>((go) => lane.waiting.push(go));
    try {
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else if (--lane.running === 0) this.#lanes.delete(key);
    }
  }
}
