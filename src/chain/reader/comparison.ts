import { createHash } from 'node:crypto';
import { keepNewest } from '../../lib/keep-newest.ts';
import type { Log, Rpc } from '../rpc.ts';
import { largestRange } from './blocks.ts';

/** Which of the blocks that were read have been compared with another endpoint. */
export type Comparison = {
  /** All up to this block were compared. Null before it is known. */
  upTo: number | null;
  /** Later blocks that were compared: if one endpoint cannot be asked, only the blocks that need its answer wait. */
  beyond: Set<number>;
  /** By block number: the logs that it was read with, until it is compared. */
  read: Map<number, Reading>;
  /** How many blocks are requested from an endpoint at once, by its URL. */
  ranges: Map<string, number>;
  /** Hosts of endpoints that have reported too much that no other has confirmed. */
  full: ReadonlySet<string>;
  /** How often blocks that were read were removed again. */
  rewinds: number;
  /** When logs were last found left out. */
  foundAtMs: number;
};

/** A digest of a block's logs, and the endpoint that reported them. */
export type Reading = { digest: string; url: string };

/** Readings beyond this many blocks are forgotten; then two endpoints are asked. */
const maxRemembered = 5_000;
/** Comparisons beyond a waiting block are forgotten when there are more than this, and made again. */
const maxBeyond = 100_000;

/** A comparison that begins with the oldest stored block. An alarm of an earlier one may still be raised. */
export function newComparison(): Comparison {
  const [read, ranges] = [new Map(), new Map()];
  return { upTo: null, beyond: new Set(), read, ranges, full: new Set(), rewinds: 0, foundAtMs: performance.now() };
}

/** Everything that decides whom a log pays and how much. */
export const contentOf = (log: Log) => [log.txHash, log.logIndex, log.address, ...log.topics, log.data].join(' ');
/** A digest of blocks' logs, since an endpoint could report another recipient at the same position. */
export const digestOf = (logs: readonly Log[]) =>
  createHash('sha256').update(logs.map(contentOf).join()).digest('base64');

/** Remembers the logs that a block was read with, and who reported them. */
export function noteRead({ read }: Comparison, number: number, logs: readonly Log[], { url }: Pick<Rpc, 'url'>): void {
  keepNewest(read, number, { digest: digestOf(logs), url }, maxRemembered);
}

/** Remembers that blocks were compared. */
export function noteCompared(comparison: Comparison, { from, to }: Range): void {
  const { beyond, read } = comparison;
  for (let number = from; number <= to; number++) {
    read.delete(number);
    beyond.add(number);
  }
  let upTo = comparison.upTo ?? from - 1;
  while (beyond.delete(upTo + 1)) upTo++;
  comparison.upTo = upTo;
  for (const oldest of beyond) {
    if (beyond.size <= maxBeyond) break;
    beyond.delete(oldest);
  }
}

/** After a reorganisation: blocks after this one are read and compared again. */
export function discardAfter(comparison: Comparison, number: number): void {
  comparison.rewinds++;
  for (const later of comparison.read.keys()) if (later > number) comparison.read.delete(later);
  for (const later of comparison.beyond) if (later > number) comparison.beyond.delete(later);
  if (comparison.upTo !== null) comparison.upTo = Math.min(comparison.upTo, number);
}

/** Consecutive blocks. */
export type Range = { from: number; to: number };

/**
 * The next blocks after a given one that this endpoint reported and that were not compared: as many as are requested
 * from an endpoint at once. While no endpoint can be asked, millions accumulate, so this does not visit each.
 *
 * @param url null: blocks whose reporter is unknown
 */
export function nextReported(
  { beyond, read }: Comparison,
  url: string | null,
  after: number,
  last: number,
): Range | null {
  const isWanted = (number: number) => !beyond.has(number) && (read.get(number)?.url ?? null) === url;
  let from = after + 1;
  if (url !== null) {
    from = Number.POSITIVE_INFINITY;
    for (const [number, { url: by }] of read) if (by === url && number > after && number < from) from = number;
  }
  while (from <= last && !isWanted(from)) from++;
  if (from > last) return null;
  let to = from;
  while (to < last && to - from + 1 < largestRange && isWanted(to + 1)) to++;
  return { from, to };
}
