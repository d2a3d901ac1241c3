import { createHash, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** How many counters subjects share once there are too many subjects; they take a quarter of a megabyte. */
const sharedCounters = 65_536;

/**
 * Counts attempts per subject in windows of fixed length, in this process only: a brake on forms, not a guarantee.
 *
 * Memory is limited, and no subject is forgotten within its window, so nobody regains attempts by inventing other
 * subjects. Once there are too many, further subjects share counters, a few to each. Who shares with whom is secret and
 * changes with each window, so nobody can use up another's attempts on purpose.
 */
export class AttemptLimit {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #maxSubjects: number;
  #windowStart = 0;
  #counts = new Map<string, number>();
  #shared: Uint32Array | null = null;
  #salt = randomBytes(16);

  constructor(limit: number, windowMs: number, maxSubjects = 100_000) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#maxSubjects = maxSubjects;
  }

  /** Counts one attempt; false when the subject, or those that share its counter, have used up the window. */
  take(subject: string, now: Date): boolean {
    const windowStart = now.getTime() - (now.getTime() % this.#windowMs);
    // A call that began before the window, and has waited since, counts in the window. If such a call restarted the
    // counts, and the next call restarted them again, everybody would regain their attempts. Only a clock that is set
    // back further restarts them.
    if (windowStart > this.#windowStart || windowStart < this.#windowStart - this.#windowMs) {
      this.#windowStart = windowStart;
      this.#counts = new Map();
      this.#shared = null;
      this.#salt = randomBytes(16);
    }
    const own = this.#counts.get(subject);
    if (own === undefined && this.#counts.size >= this.#maxSubjects) return this.#takeShared(subject);
    this.#counts.set(subject, (own ?? 0) + 1);
    return (own ?? 0) < this.#limit;
  }

  #takeShared(subject: string): boolean {
    this.#shared ??= new Uint32Array(sharedCounters);
    const at = createHash('sha256').update(this.#salt).update(subject).digest().readUInt32BE() % sharedCounters;
    const count = this.#shared[at] ?? 0;
    this.#shared[at] = count + 1;
    return count < this.#limit;
  }
}

/** Identifies a client: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function clientSubject(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  return `${firstGroups(address, 4)}::/64`;
}

/**
 * Identifies a network, as much as one owner easily obtains: the first 24 bits of an IPv4 address, or the first 48 of
 * an IPv6 address.
 */
export function networkSubject(address: string): string {
  if (isIPv6(address) && !address.startsWith('::ffff:')) return `${firstGroups(address, 3)}::/48`;
  return `${address.replace('::ffff:', '').split('.').slice(0, 3).join('.')}.0/24`;
}

/** The first groups of an IPv6 address, each written in full, so that one network has one name. */
function firstGroups(address: string, groups: number): string {
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  const [before = [], after = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, groups).join(':');
}
