import { isIPv6 } from 'node:net';

/** Counts attempts per subject in windows of fixed length, in this process only: a brake on forms, not a promise. */
export class AttemptLimit {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #maxSubjects: number;
  #windowStart = 0;
  #counts = new Map<string, number>();

  constructor(limit: number, windowMs: number, maxSubjects = 100_000) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#maxSubjects = maxSubjects;
  }

  /** Counts one attempt; false when the subject has used up its window, or when more subjects come than are kept. */
  take(subject: string, now: Date): boolean {
    const windowStart = now.getTime() - (now.getTime() % this.#windowMs);
    if (windowStart !== this.#windowStart) {
      this.#windowStart = windowStart;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(subject) ?? 0) + 1;
    if (count === 1 && this.#counts.size >= this.#maxSubjects) return false;
    this.#counts.set(subject, count);
    return count <= this.#limit;
  }
}

/** What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function clientSubject(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  return `${firstGroups(address, 4)}::/64`;
}

/** What one owner has easily: the first 24 bits of an IPv4 address, or the first 48 of an IPv6 address. */
export function networkSubject(address: string): string {
  if (isIPv6(address) && !address.startsWith('::ffff:')) return `${firstGroups(address, 3)}::/48`;
  return `${address.replace('::ffff:', '').split('.').slice(0, 3).join('.')}.0/24`;
}

/** The first groups of an IPv6 address, each written out: one network has one name. */
function firstGroups(address: string, groups: number): string {
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  const [before = [], after = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, groups).join(':');
}
