import { createHash } from 'node:crypto';
import { keepNewest } from '../../lib/keep-newest.ts';
import type { Log, Rpc } from '../rpc.ts';
import { largestRange } from './blocks.ts';

/** Which of the blocks that were read have been compared with another endpoint. */
export type Comparison = {
  /** All up to this one. Null before it is known. */
  upTo: number | null;
  /** Later ones: where one endpoint cannot be asked, only what it would be asked for waits. */
  beyond: Set<number>;
  /** By block number: what it was read with, until it is compared. */
  read: Map<number, Reading>;
  /** How many blocks an endpoint is asked for at once, by its URL. */
  ranges: Map<string, number>;
  /** Hosts of endpoints that have told too much that nobody has confirmed. */
  full: ReadonlySet<string>;
  /** How often blocks that were read were taken back. */
  rewinds: number;
  /** When logs were last found left out. */
  foundAtMs: number;
};

/** A digest of a block's logs, and the endpoint that told them. */
export type Reading = { digest: string; url: string };

/** What was read is forgotten beyond that many blocks: two endpoints are then asked. */
const mostRemembered = 5_000;
/** What was compared beyond a block that waits is forgotten beyond that many, and compared again. */
const mostBeyond = 100_000;

/** A comparison that begins with the oldest stored block. An alarm of an earlier one may still be raised. */
export function newComparison(): Comparison {
  const [read, ranges] = [new Map(), new Map()];
  return { upTo: null, beyond: new Set(), read, ranges, full: new Set(), rewinds: 0, foundAtMs: performance.now() };
}

export const placeOf = ({ txHash, logIndex }: { txHash: string; logIndex: number | null }) => `${txHash} ${logIndex}`;
const textOf = (log: Log) => [placeOf(log), log.address, ...log.topics, log.data].join(' ');
/** Of all that decides whom a log pays and how much: an endpoint could tell another recipient at the same place. */
export const digestOf = (logs: readonly Log[]) => createHash('sha256').update(logs.map(textOf).join()).digest('base64');

/** Remembers which logs a block was read with, and who told them. */
export function noteRead({ read }: Comparison, number: number, logs: readonly Log[], { url }: Pick<Rpc, 'url'>): void {
  keepNewest(read, number, { digest: digestOf(logs), url }, mostRemembered);
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
    if (beyond.size <= mostBeyond) break;
    beyond.delete(oldest);
  }
}

/** After a reorganisation: what follows this block is read again, and compared again. */
export function forgetAfter(comparison: Comparison, number: number): void {
  comparison.rewinds++;
  for (const later of comparison.read.keys()) if (later > number) comparison.read.delete(later);
  for (const later of comparison.beyond) if (later > number) comparison.beyond.delete(later);
  if (comparison.upTo !== null) comparison.upTo = Math.min(comparison.upTo, number);
}

/** Blocks in a row. */
export type Range = { from: number; to: number };

/**
 * The next blocks after one that this endpoint has told, and that were not compared: as many as an endpoint is asked
 * for at once. While there is nobody to ask, millions come to wait, so it does not look at each.
 *
 * @param url null: blocks of which nobody knows who told them
 */
export function nextTold({ beyond, read }: Comparison, url: string | null, after: number, last: number): Range | null {
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
