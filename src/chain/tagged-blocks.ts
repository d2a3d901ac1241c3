import { backoffMs } from '../lib/backoff.ts';
import { minuteMs } from '../lib/durations.ts';
import { type Rpc, RpcError } from './rpc.ts';

export type FinalityTag = 'safe' | 'finalized';

/** Some endpoints do not know the tags, and never will; others have not synchronised yet. */
type Lack = { inARow: number; askAgainAtMs: number; isReported: boolean };

const waits = { firstMs: 1_000, maxMs: 5 * minuteMs };
/** A single empty answer may be a node that has just started. */
const reportAfter = 3;

/** Which endpoint lacks which tag, for everything in this process that asks. */
const lacks = new Map<string, Lack>();

/**
 * The number of the block that an endpoint calls safe or final; null if it names none. Such an endpoint is asked less
 * and less often, at most every five minutes.
 *
 * @param onLack called once, when it has named none several times in a row
 * @throws RpcError when it does not answer
 */
export async function taggedNumber(rpc: Rpc, tag: FinalityTag, onLack?: () => void): Promise<number | null> {
  const key = `${tag} ${rpc.url}`;
  const known = lacks.get(key);
  if (known && performance.now() < known.askAgainAtMs) return null;
  const number = await queryTaggedBlock(rpc, tag);
  if (number !== null) {
    lacks.delete(key);
    return number;
  }
  const inARow = (known?.inARow ?? 0) + 1;
  const reports = onLack !== undefined && inARow >= reportAfter && !known?.isReported;
  lacks.set(key, {
    inARow,
    askAgainAtMs: performance.now() + backoffMs(inARow, waits),
    isReported: reports || (known?.isReported ?? false),
  });
  if (reports) onLack();
  return null;
}

/** As `taggedNumber`, but the endpoint is always asked. */
export async function queryTaggedBlock(rpc: Rpc, tag: FinalityTag): Promise<number | null> {
  try {
    return (await rpc.header(tag))?.number ?? null;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return null;
    throw error;
  }
}
