/** Work that waits for its turn; `go` says whether it came. */
type Waiting = { go: (came: boolean) => void };

/**
 * Lets so much work run at once, and of each key one at a time; the rest waits without holding anything. Keys take
 * turns, so who asks a thousand times delays others by one.
 */
export class Turns {
  readonly #most: number;
  readonly #longestWaitMs: number;
  #running = 0;
  /** What waits, by key; a key is here while its work runs, too. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Keys whose next work may run. */
  readonly #ready: string[] = [];

  constructor(most: number, longestWaitMs: number) {
    this.#most = most;
    this.#longestWaitMs = longestWaitMs;
  }

  /** @returns null where the turn did not come in time */
  async take<T>(key: string, work: () => Promise<T>): Promise<T | null> {
    if (!(await this.#turn(key))) return null;
    try {
      return await work();
    } finally {
      this.#running--;
      this.#makeReady(key);
      this.#next();
    }
  }

  #turn(key: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting = this.#waiting.get(key) ?? [];
    const one: Waiting = { go: resolve };
    const late = setTimeout(() => {
      const place = waiting.indexOf(one);
      if (place >= 0) waiting.splice(place, 1);
      resolve(false);
    }, this.#longestWaitMs);
    waiting.push(one);
    if (!this.#waiting.has(key)) {
      this.#waiting.set(key, waiting);
      this.#ready.push(key);
    }
    this.#next();
    return promise.finally(() => clearTimeout(late));
  }

  #makeReady(key: string): void {
    if (this.#waiting.get(key)?.length) this.#ready.push(key);
    else this.#waiting.delete(key);
  }

  #next(): void {
    while (this.#running < this.#most) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      const one = this.#waiting.get(key)?.shift();
      if (one) {
        this.#running++;
        one.go(true);
      } else this.#waiting.delete(key); // nobody waited for it any longer
    }
  }
}
