import type { ClaimedDelivery, EndpointRoom } from './queue-store.ts';
import { firstWindow, isProven, maxAhead, maxPosts, maxSlow, maxUnproven, maxWindow, slowAfterMs } from './rules.ts';

/**
 * A delivery that was claimed this long ago is given back instead of attempted, because its lease must outlast the
 * attempt.
 */
const maxHoldMs = 5_000;
/** Knowledge of an endpoint is forgotten after this long without work for it. */
const rememberMs = 10_000;
/** How often to look for slow attempts. */
const moveEveryMs = 20;
/** An endpoint that was slow counts as answering only once it has been quick for this long. */
const distrustMs = 10_000;

/** What this process knows of one endpoint. */
type EndpointLane = {
  partner_id: string;
  test_mode: boolean;
  /** Claimed and not attempted yet. */
  queue: { row: ClaimedDelivery; since: number }[];
  /** Under way; a failed attempt counts until it is recorded, so that the next claim knows of it. */
  posts: number;
  /** How many may be under way: one more after each success, few again after a failure. */
  window: number;
  /** Whether it is known to answer. Endpoints that are not share a part of the room. */
  proven: boolean;
  succeededAt: number;
  /** When an attempt was last found slow. */
  slowAt: number;
  usedAt: number;
};

type Post = { lane: EndpointLane; startedAt: number; proven: boolean; isSlow: boolean };

/** Names an endpoint within this process. */
export function endpointKey(row: { partner_id: string; test_mode: boolean }): string {
  return `${row.partner_id} ${row.test_mode}`;
}

export type Pace = ReturnType<typeof makePace>;

/**
 * Decides which of the claimed deliveries is attempted next, and how many more may be claimed for which endpoint.
 * Endpoints take turns. An attempt without an answer after a second, while others have one, moves from the room of
 * quick attempts to the room of slow ones. Endpoints that are not known to answer, or only slowly, share half of the
 * quick room. So receivers that hang, or answer just in time, leave room for quick ones, however many there are and
 * whoever owns them.
 */
export function makePace(startWindow: number, now: () => number = () => performance.now()) {
  const lanes = new Map<string, EndpointLane>();
  // By claim, not by id: after a replay, or when a lease expired, one delivery can be under way twice.
  const quick = new Map<ClaimedDelivery, Post>();
  const slow = new Map<ClaimedDelivery, Post>();
  const ready = { proven: new Set<EndpointLane>(), unproven: new Set<EndpointLane>() };
  const returned: ClaimedDelivery[] = [];
  const queued = { proven: 0, unproven: 0 };
  let unprovenQuick = 0;
  let movedAt = Number.NEGATIVE_INFINITY;
  /** The time of the last success, and when the latest attempt that has succeeded began. */
  let answeredAt = Number.NEGATIVE_INFINITY;
  let answeredStart = Number.NEGATIVE_INFINITY;

  const kindOf = (lane: EndpointLane) => (lane.proven ? 'proven' : 'unproven');
  /** Adds an endpoint to the turns, or removes it while it has nothing to attempt. */
  const place = (lane: EndpointLane) => {
    const turn = ready[kindOf(lane)];
    if (lane.queue.length === 0 || lane.posts >= lane.window) turn.delete(lane);
    else turn.add(lane);
  };
  const setProven = (lane: EndpointLane, proven: boolean) => {
    if (lane.proven === proven) return;
    ready[kindOf(lane)].delete(lane);
    queued[kindOf(lane)] -= lane.queue.length;
    lane.proven = proven;
    queued[kindOf(lane)] += lane.queue.length;
  };
  /** Deliveries claimed ahead for an endpoint in trouble are left for later, or for another process. */
  const distrust = (lane: EndpointLane) => {
    setProven(lane, false);
    queued.unproven -= lane.queue.length;
    for (const { row } of lane.queue.splice(0)) returned.push(row);
    place(lane);
  };
  const laneOf = (row: ClaimedDelivery): EndpointLane => {
    const key = endpointKey(row);
    const known = lanes.get(key);
    if (known) return known;
    const { partner_id, test_mode } = row;
    const proven = isProven(row.endpoint, new Date());
    const lane: EndpointLane = {
      ...{ partner_id, test_mode, queue: [], posts: 0, window: startWindow },
      ...{ proven, succeededAt: Number.NEGATIVE_INFINITY, slowAt: Number.NEGATIVE_INFINITY, usedAt: now() },
    };
    lanes.set(key, lane);
    return lane;
  };
  const leaveQuick = (row: ClaimedDelivery, post: Post) => {
    quick.delete(row);
    if (!post.proven) unprovenQuick--;
  };
  /** From now on it counts as not known to answer, even if the room of the slow ones is full. */
  const markSlow = (post: Post, at: number) => {
    const { lane, startedAt } = post;
    post.isSlow = true;
    if (post.proven) unprovenQuick++;
    post.proven = false;
    lane.slowAt = at;
    if (lane.succeededAt < startedAt) distrust(lane);
    else setProven(lane, false);
    place(lane);
  };
  /** Attempts are in the order in which they began, so the first that is still quick ends the search. */
  const moveSlow = (at: number) => {
    if (at < movedAt + moveEveryMs) return;
    movedAt = at;
    // While all answers are late, as on a busy machine, only an attempt that later ones have overtaken is slow.
    const before = (at - answeredAt < slowAfterMs ? answeredStart : at) - slowAfterMs;
    for (const [row, post] of quick) {
      if (post.startedAt > before) break;
      if (!post.isSlow) markSlow(post, at);
      if (slow.size >= maxSlow) continue;
      leaveQuick(row, post);
      slow.set(row, post);
    }
  };
  const turn = (): Set<EndpointLane> | null => {
    if (quick.size >= maxPosts) return null;
    if (ready.unproven.size > 0 && unprovenQuick < maxUnproven) return ready.unproven;
    return ready.proven.size > 0 ? ready.proven : null;
  };

  return {
    /** How many attempts an unknown endpoint may have under way. */
    window: startWindow,
    /** Takes over deliveries that were claimed. */
    add: (rows: ClaimedDelivery[]) => {
      const since = now();
      for (const row of rows) {
        const lane = laneOf(row);
        lane.queue.push({ row, since });
        lane.usedAt = since;
        queued[kindOf(lane)]++;
        place(lane);
      }
    },
    /** The next delivery to attempt, which counts as under way; null while there is none or no room. */
    next: (): ClaimedDelivery | null => {
      const startedAt = now();
      moveSlow(startedAt);
      for (let turnSet = turn(); turnSet !== null; turnSet = turn()) {
        const [lane] = turnSet;
        const entry = lane?.queue.shift();
        if (!lane || !entry) return null;
        queued[kindOf(lane)]--;
        turnSet.delete(lane);
        if (startedAt - entry.since > maxHoldMs) returned.push(entry.row);
        else {
          lane.posts++;
          if (!lane.proven) unprovenQuick++;
          quick.set(entry.row, { lane, startedAt, proven: lane.proven, isSlow: false });
        }
        place(lane);
        if (quick.has(entry.row)) return entry.row;
      }
      return null;
    },
    /** An attempt has ended. One that failed keeps its place at its endpoint until `recorded`. */
    ended: (row: ClaimedDelivery, succeeded: boolean) => {
      const post = quick.get(row) ?? slow.get(row);
      if (!post) return;
      const { lane } = post;
      if (!slow.delete(row)) leaveQuick(row, post);
      lane.usedAt = now();
      if (!succeeded) {
        lane.window = Math.min(lane.window, firstWindow);
        distrust(lane);
        return;
      }
      lane.posts--;
      lane.succeededAt = lane.usedAt;
      answeredAt = lane.usedAt;
      answeredStart = Math.max(answeredStart, post.startedAt);
      lane.window = Math.min(maxWindow, lane.window + 1);
      if (post.isSlow) lane.slowAt = lane.usedAt;
      setProven(lane, lane.usedAt - lane.slowAt >= distrustMs);
      place(lane);
    },
    /** The outcome of a failed attempt is recorded in the database. */
    recorded: (row: ClaimedDelivery) => {
      const lane = lanes.get(endpointKey(row));
      if (!lane) return;
      lane.posts--;
      place(lane);
    },
    /** How many more may be claimed: those under way, and as many ahead of them. */
    free: () => {
      moveSlow(now());
      return maxPosts + maxAhead - quick.size - queued.proven - queued.unproven;
    },
    /** How many of them for endpoints that are not known to answer. */
    freeUnproven: () => Math.max(0, maxUnproven - unprovenQuick - queued.unproven),
    /** How many more may be claimed for each endpoint of which something is known. */
    rooms: (): EndpointRoom[] => {
      const forgetBefore = now() - rememberMs;
      const known: EndpointRoom[] = [];
      for (const [key, { partner_id, test_mode, queue, posts, window, proven, usedAt }] of lanes) {
        const held = posts + queue.length;
        if (held === 0 && usedAt < forgetBefore) lanes.delete(key);
        else known.push({ partner_id, test_mode, held, room: (proven ? 2 : 1) * window - held, proven });
      }
      return known;
    },
    /** Deliveries that are not attempted after all; their leases must be released. */
    takeBack: (): ClaimedDelivery[] => returned.splice(0),
    /** Gives back everything that was not attempted yet. */
    clear: () => {
      for (const lane of lanes.values()) distrust(lane);
    },
  };
}
