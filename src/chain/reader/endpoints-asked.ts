import { type Rpc, RpcError } from '../rpc.ts';
import { firstRange } from './blocks.ts';
import type { Reader } from './read.ts';
import { type Cursor, selectBlocks } from './store.ts';

/** Up to which block an endpoint has all blocks that were read; -1 if that is not known. */
export type EndOf = (rpc: Rpc) => Promise<number>;

/** Logs that an endpoint did not answer when its logs were to be compared. */
export const logFailure = ({ log, chain }: Reader, { host }: Rpc, { message: reason }: RpcError): void =>
  log.warn({ chain: chain.chainId, provider: host, reason }, 'endpoints could not be compared');

/** Asks each endpoint once. */
export function endsUpTo(reader: Reader, cursor: Cursor): EndOf {
  const ends = new Map<Rpc, Promise<number>>();
  return (rpc) => {
    const end = ends.get(rpc) ?? lastCommonBlock(reader, rpc, cursor);
    ends.set(rpc, end);
    return end;
  };
}

async function lastCommonBlock(reader: Reader, rpc: Rpc, cursor: Cursor): Promise<number> {
  try {
    const newest = await rpc.header('latest');
    if (!newest) return -1;
    const number = Math.min(newest.number, cursor.number);
    const theirs = newest.number === number ? newest : await rpc.header(number);
    const isLast = number === cursor.number;
    const ours = isLast ? cursor.hash : (await selectBlocks(reader.db, reader.chain.chainId)).get(number);
    return theirs?.hash === ours ? number : -1;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    logFailure(reader, rpc, error);
    return -1;
  }
}

/** How many endpoints are wanted, which of them not, and how many blocks each reports at once, by its URL. */
type Wanted = { count: number; isExcluded: (rpc: Rpc) => boolean; endOf: EndOf; ranges: Map<string, number> };

/**
 * The endpoints to ask about logs: those with the newest blocks.
 *
 * @returns null if there are not so many; `to`: the last block that they have; `range`: how many blocks they report at
 * once
 */
export async function newestEndpoints(
  { pool }: Reader,
  { count, isExcluded, endOf, ranges }: Wanted,
): Promise<{ rpcs: Rpc[]; to: number; range: number } | null> {
  const usable = pool.providers.filter((one) => one.checked === 'yes' && pool.isAwake(one) && !isExcluded(one.rpc));
  const ends = await Promise.all(usable.map(async ({ rpc }) => ({ rpc, to: await endOf(rpc) })));
  const chosen = ends.sort((a, b) => b.to - a.to).slice(0, count);
  if (chosen.length < count) return null;
  return {
    rpcs: chosen.map(({ rpc }) => rpc),
    to: Math.min(...chosen.map(({ to }) => to)),
    range: Math.min(...chosen.map(({ rpc }) => ranges.get(rpc.url) ?? firstRange)),
  };
}
