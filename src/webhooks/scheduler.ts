import type { EndpointId } from './endpoint-key.ts';
import { type EndpointQueue, EndpointQueues, type Trust } from './endpoint-queues.ts';
import type { ClaimedDelivery, EndpointRoom } from './queue-store.ts';
import { firstWindow, maxAhead, maxPosts, maxSlow, maxUnproven, maxWindow, slowAfterMs } from './rules.ts';

/** How often to look for slow attempts. */
const moveEveryMs = 20;
/** An endpoint that was slow counts as answering only once it has been quick for this long. */
const distrustMs = 10_000;

/** An attempt under way. `proven`: whether its endpoint was known to answer when it began, and it is not slow. */
type Post = { queue: EndpointQueue; startedAt: number; proven: boolean; isSlow: boolean };

/**
 * Decides which of the claimed deliveries is attempted next, and how many more may be claimed for which endpoint.
 * Endpoints take turns. An attempt that has no answer after a second, while other attempts get theirs, moves from the
 * quick attempts to the slow ones, which have a limit of their own. Endpoints that are not known to answer, or only
 * slowly, share half of the limit for quick attempts. So receivers that hang, or answer just in time, leave room for
 * quick ones, however many there are and whoever owns them.
 */
export class Scheduler {
  /** How many attempts an unknown endpoint may have under way. */
  readonly window: number;
  readonly #now: () => number;
  readonly #queues: EndpointQueues;
  // By claim, not by id: after a replay, or when a lease expired, one delivery can be under way twice.
  readonly #quick = new Map<ClaimedDelivery, Post>();
  readonly #slow = new Map<ClaimedDelivery, Post>();
  /** How many quick attempts are at endpoints that are not known to answer. */
  #unprovenQuick = 0;
  #movedAt = Number.NEGATIVE_INFINITY;
  /** The time of the last success, and when the latest attempt that has succeeded began. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #answeredStart = Number.NEGATIVE_INFINITY;

  constructor(window: number, now: () => number = () => performance.now()) {
    this.window = window;
    this.#now = now;
    this.#queues = new EndpointQueues(window);
  }

  /** Takes over deliveries that were claimed. */
  add(rows: ClaimedDelivery[]): void {
    const now = this.#now();
    for (const row of rows) this.#queues.add(row, now);
  }

  /** The next delivery to attempt, which counts as under way; null while there is none or no room. */
  next(): ClaimedDelivery | null {
    const startedAt = this.#now();
    this.#moveSlow(startedAt);
    for (let trust = this.#whoseTurn(); trust !== null; trust = this.#whoseTurn()) {
      const taken = this.#queues.take(trust, startedAt);
      if (!taken) continue;
      const { row, queue } = taken;
      if (!queue.proven) this.#unprovenQuick++;
      this.#quick.set(row, { queue, startedAt, proven: queue.proven, isSlow: false });
      return row;
    }
    return null;
  }

  #whoseTurn(): Trust | null {
    if (this.#quick.size >= maxPosts) return null;
    if (this.#queues.hasTurn('unproven') && this.#unprovenQuick < maxUnproven) return 'unproven';
    return this.#queues.hasTurn('proven') ? 'proven' : null;
  }

  /** An attempt has ended. One that failed keeps its place at its endpoint until `recorded`. */
  ended(row: ClaimedDelivery, succeeded: boolean): void {
    const post = this.#quick.get(row) ?? this.#slow.get(row);
    if (!post) return;
    const { queue } = post;
    if (!this.#slow.delete(row)) this.#leaveQuick(row, post);
    queue.usedAt = this.#now();
    if (succeeded) this.#succeeded(post);
    else {
      queue.window = Math.min(queue.window, firstWindow);
      this.#queues.distrust(queue);
    }
  }

  #succeeded({ queue, startedAt, isSlow }: Post): void {
    const now = queue.usedAt;
    queue.posts--;
    queue.succeededAt = now;
    this.#answeredAt = now;
    this.#answeredStart = Math.max(this.#answeredStart, startedAt);
    queue.window = Math.min(maxWindow, queue.window + 1);
    if (isSlow) queue.slowAt = now;
    this.#queues.setProven(queue, now - queue.slowAt >= distrustMs);
    this.#queues.place(queue);
  }

  /** The outcome of a failed attempt is recorded in the database. */
  recorded(row: ClaimedDelivery): void {
    const queue = this.#queues.find(row);
    if (!queue) return;
    queue.posts--;
    this.#queues.place(queue);
  }

  /** How many more may be claimed: those under way, and as many ahead of them. */
  free(): number {
    this.#moveSlow(this.#now());
    const held = this.#quick.size + this.#queues.count('proven') + this.#queues.count('unproven');
    return maxPosts + maxAhead - held;
  }

  /** How many of them for endpoints that are not known to answer. */
  freeUnproven(): number {
    return Math.max(0, maxUnproven - this.#unprovenQuick - this.#queues.count('unproven'));
  }

  /** How many more may be claimed for each endpoint that this process knows. */
  rooms(): EndpointRoom[] {
    return this.#queues.rooms(this.#now());
  }

  /** Gives back what was claimed for an endpoint and not attempted yet, because the endpoint has changed since. */
  changed(endpoint: EndpointId): void {
    const queue = this.#queues.find(endpoint);
    if (queue) this.#queues.giveBack(queue);
  }

  /** Deliveries that are not attempted after all; their leases must be released. */
  takeBack(): ClaimedDelivery[] {
    return this.#queues.takeBack();
  }

  /** Gives back everything that was not attempted yet. */
  clear(): void {
    this.#queues.distrustAll();
  }

  #leaveQuick(row: ClaimedDelivery, post: Post): void {
    this.#quick.delete(row);
    if (!post.proven) this.#unprovenQuick--;
  }

  /** Attempts are in the order in which they began, so the first that is still quick ends the search. */
  #moveSlow(now: number): void {
    if (now < this.#movedAt + moveEveryMs) return;
    this.#movedAt = now;
    // While all answers are late, as on a busy machine, only an attempt that later ones have overtaken is slow.
    const before = (now - this.#answeredAt < slowAfterMs ? this.#answeredStart : now) - slowAfterMs;
    for (const [row, post] of this.#quick) {
      if (post.startedAt > before) break;
      if (!post.isSlow) this.#markSlow(post, now);
      if (this.#slow.size >= maxSlow) continue;
      this.#leaveQuick(row, post);
      this.#slow.set(row, post);
    }
  }

  /** From now on it counts as not known to answer, even if the limit of slow attempts is reached. */
  #markSlow(post: Post, now: number): void {
    const { queue, startedAt } = post;
    post.isSlow = true;
    if (post.proven) this.#unprovenQuick++;
    post.proven = false;
    queue.slowAt = now;
    if (queue.succeededAt < startedAt) this.#queues.distrust(queue);
    else this.#queues.setProven(queue, false);
    this.#queues.place(queue);
  }
}
