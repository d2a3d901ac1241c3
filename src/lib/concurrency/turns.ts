/** Work that waits for its turn; `go` says whether it came. */
type Waiting = { go: (came: boolean) => void };
/** Work of one kind: one at a time, in order. */
type Queue = { group: string; key: string; waiting: Waiting[] };

/**
 * Limits how much work runs at once, and runs one item per key at a time. The rest waits and holds nothing meanwhile.
 * Groups take turns, and so do the keys within a group. So a group that asks a thousand times, under however many keys,
 * delays others by one item.
 */
export class Turns {
  readonly #max: number;
  readonly #maxWaitMs: number;
  #running = 0;
  /** What waits, by group and key; a key is here while its work runs, too. */
  readonly #queues = new Map<string, Queue>();
  /** Queues whose next work may run, by group; the group that comes next is first. */
  readonly #ready = new Map<string, Queue[]>();

  constructor(max: number, maxWaitMs: number) {
    this.#max = max;
    this.#maxWaitMs = maxWaitMs;
  }

  /** @returns null where the turn did not come in time */
  async take<T>(group: string, key: string, work: () => Promise<T>): Promise<T | null> {
    const name = JSON.stringify([group, key]);
    const known = this.#queues.get(name);
    const queue = known ?? { group, key: name, waiting: [] };
    if (!known) this.#queues.set(name, queue);
    if (!(await this.#turn(queue, !known))) return null;
    try {
      return await work();
    } finally {
      this.#running--;
      if (queue.waiting.length > 0) this.#makeReady(queue);
      else this.#queues.delete(name);
      this.#next();
    }
  }

  #turn(queue: Queue, isNew: boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const one: Waiting = { go: resolve };
    const late = setTimeout(() => {
      const place = queue.waiting.indexOf(one);
      if (place >= 0) queue.waiting.splice(place, 1);
      resolve(false);
    }, this.#maxWaitMs);
    queue.waiting.push(one);
    if (isNew) this.#makeReady(queue);
    this.#next();
    return promise.finally(() => clearTimeout(late));
  }

  #makeReady(queue: Queue): void {
    const ready = this.#ready.get(queue.group);
    if (ready) ready.push(queue);
    else this.#ready.set(queue.group, [queue]);
  }

  #next(): void {
    while (this.#running < this.#max) {
      const [first] = this.#ready;
      if (!first) return;
      const [group, queues] = first;
      const queue = queues.shift();
      this.#ready.delete(group);
      if (queues.length > 0) this.#ready.set(group, queues); // behind the others
      const one = queue?.waiting.shift();
      if (one) {
        this.#running++;
        one.go(true);
      } else if (queue) this.#queues.delete(queue.key); // nobody waited for it any longer
    }
  }
}
