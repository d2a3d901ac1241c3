import { type EndpointId, endpointKey } from './endpoint-key.ts';
import type { ClaimedDelivery, EndpointRoom } from './queue-store.ts';

/**
 * A delivery that was claimed this long ago is given back instead of attempted, because its lease must outlast the
 * attempt.
 */
const maxHoldMs = 5_000;
/** Knowledge of an endpoint is forgotten after this long without work for it. */
const rememberMs = 10_000;

/** What this process knows of one endpoint. Times are those of `performance.now()`. */
export type EndpointQueue = {
  readonly partner_id: string;
  readonly test_mode: boolean;
  /** Claimed and not attempted yet. */
  readonly waiting: { row: ClaimedDelivery; since: number }[];
  /** How many attempts are under way; a failed one counts until it is recorded, so that the next claim knows of it. */
  posts: number;
  /** How many may be under way: one more after each success, few again after a failure. */
  window: number;
  /** Whether it is known to answer. Changed by `setProven` only. */
  proven: boolean;
  succeededAt: number;
  /** When an attempt was last found slow. */
  slowAt: number;
  usedAt: number;
};

/** Whether an endpoint is known to answer. */
export type Trust = 'proven' | 'unproven';
const trustOf = ({ proven }: EndpointQueue): Trust => (proven ? 'proven' : 'unproven');

/**
 * The deliveries that this process has claimed and not attempted yet, by endpoint. Endpoints take turns, those that are
 * known to answer and the others separately.
 */
export class EndpointQueues {
  readonly #startWindow: number;
  readonly #all = new Map<string, EndpointQueue>();
  /** The endpoints with something to attempt and room for it, in the order of their turns. */
  readonly #turns: Record<Trust, Set<EndpointQueue>> = { proven: new Set(), unproven: new Set() };
  readonly #counts: Record<Trust, number> = { proven: 0, unproven: 0 };
  readonly #returned: ClaimedDelivery[] = [];

  /** @param startWindow how many attempts an unknown endpoint may have under way */
  constructor(startWindow: number) {
    this.#startWindow = startWindow;
  }

  add(row: ClaimedDelivery, now: number): void {
    const queue = this.find(row) ?? this.#open(row);
    queue.waiting.push({ row, since: now });
    queue.usedAt = now;
    this.#counts[trustOf(queue)]++;
    this.place(queue);
  }

  #open(row: ClaimedDelivery): EndpointQueue {
    const { partner_id, test_mode } = row;
    const queue: EndpointQueue = {
      ...{ partner_id, test_mode, waiting: [], posts: 0, window: this.#startWindow, proven: row.endpoint.proven },
      ...{ succeededAt: Number.NEGATIVE_INFINITY, slowAt: Number.NEGATIVE_INFINITY, usedAt: 0 },
    };
    this.#all.set(endpointKey(row), queue);
    return queue;
  }

  find(row: EndpointId): EndpointQueue | undefined {
    return this.#all.get(endpointKey(row));
  }

  /** Whether an endpoint waits for its turn. */
  hasTurn(trust: Trust): boolean {
    return this.#turns[trust].size > 0;
  }

  /** How many deliveries wait. */
  count(trust: Trust): number {
    return this.#counts[trust];
  }

  /**
   * Takes the next delivery of the endpoint whose turn it is, and counts it as under way.
   *
   * @returns null if it was held for too long, and is given back
   */
  take(trust: Trust, now: number): { row: ClaimedDelivery; queue: EndpointQueue } | null {
    const [queue] = this.#turns[trust];
    const entry = queue?.waiting.shift();
    if (!queue || !entry) throw new Error('no delivery waits for its turn');
    this.#counts[trust]--;
    this.#turns[trust].delete(queue); // its next turn comes after all others
    const isHeldTooLong = now - entry.since > maxHoldMs;
    if (isHeldTooLong) this.#returned.push(entry.row);
    else queue.posts++;
    this.place(queue);
    return isHeldTooLong ? null : { row: entry.row, queue };
  }

  /** Adds an endpoint to the turns, or removes it while it has nothing to attempt or no room. */
  place(queue: EndpointQueue): void {
    const turns = this.#turns[trustOf(queue)];
    if (queue.waiting.length === 0 || queue.posts >= queue.window) turns.delete(queue);
    else turns.add(queue);
  }

  /** Notes whether an endpoint is known to answer. `place` must follow. */
  setProven(queue: EndpointQueue, proven: boolean): void {
    if (queue.proven === proven) return;
    this.#turns[trustOf(queue)].delete(queue);
    this.#counts[trustOf(queue)] -= queue.waiting.length;
    queue.proven = proven;
    this.#counts[trustOf(queue)] += queue.waiting.length;
  }

  /** Gives back what was claimed ahead for an endpoint in trouble: for later, or for another process. */
  distrust(queue: EndpointQueue): void {
    this.setProven(queue, false);
    this.giveBack(queue);
  }

  /** Gives back what was claimed ahead for an endpoint. */
  giveBack(queue: EndpointQueue): void {
    this.#counts[trustOf(queue)] -= queue.waiting.length;
    for (const { row } of queue.waiting.splice(0)) this.#returned.push(row);
    this.place(queue);
  }

  distrustAll(): void {
    for (const queue of this.#all.values()) this.distrust(queue);
  }

  /** The deliveries that are not attempted after all. */
  takeBack(): ClaimedDelivery[] {
    return this.#returned.splice(0);
  }

  /** How many more may be claimed for each endpoint that this process knows. */
  rooms(now: number): EndpointRoom[] {
    const known: EndpointRoom[] = [];
    for (const [key, { partner_id, test_mode, waiting, posts, window, proven, usedAt }] of this.#all) {
      const held = posts + waiting.length;
      if (held === 0 && usedAt < now - rememberMs) this.#all.delete(key);
      else known.push({ partner_id, test_mode, held, room: (proven ? 2 : 1) * window - held, proven });
    }
    return known;
  }
}
