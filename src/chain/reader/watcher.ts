import { randomUUID } from 'node:crypto';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { pause } from '../../lib/time.ts';
import { loopPass } from '../../lib/trace.ts';
import { firstRange } from './blocks.ts';
import { compareEndpoints } from './compare.ts';
import { newComparison } from './comparison.ts';
import { type Work, whileLeading } from './leading.ts';
import type { Lease } from './lease.ts';
import { makePool } from './pool.ts';
import { poll, type Reader, type WatchHooks } from './read.ts';
import { Deposed, raiseFence } from './store.ts';
import { noteTokensRead, searchGaps } from './tokens-read.ts';
import { readUnread } from './unread.ts';
import { watchedWallets } from './wallets.ts';

const troublePauseMs = 1_000;
const unreadPauseMs = 1_000;
/** How soon after it was read a block is compared with another endpoint. */
const usualCompareMs = 10_000;

/**
 * Reads all chains of both modes into the table `transfers` until the signal aborts. Each chain has its own loop, so
 * that trouble on one delays no other. Only one process at a time leads a chain; another takes over within 5 s.
 *
 * @param compareEveryMs null: what endpoints report is not compared
 */
export async function startWatching(
  ctx: Context,
  hooks: WatchHooks,
  signal: AbortSignal,
  compareEveryMs: number | null = usualCompareMs,
): Promise<void> {
  const works = new Map<string, Work>();
  for (const chain of ctx.chains.test) works.set(leaseName(chain), watching(ctx, chain, true, hooks, compareEveryMs));
  for (const chain of ctx.chains.live) works.set(leaseName(chain), watching(ctx, chain, false, hooks, compareEveryMs));
  const report = (error: unknown, lease?: string) =>
    ctx.log.error({ err: error, lease }, 'the chains could not be led; this is tried again');
  await whileLeading(ctx.db, works, randomUUID(), signal, report);
}

/** Reads one chain while this process leads it. */
function watching(
  ctx: Context,
  chain: ChainConfig,
  testMode: boolean,
  hooks: WatchHooks,
  compareEveryMs: number | null,
): Work {
  const report = (error: unknown) => ctx.log.error({ err: error, chain: chain.chainId }, 'the chain watcher failed');
  return async (lease, leading) => {
    ctx.log.info({ chain: chain.chainId, fence: lease.fence }, 'leading the chain');
    const over = new AbortController();
    const both = AbortSignal.any([leading, over.signal]);
    const reader = await makeReader(ctx, { chain, testMode }, lease, hooks, both);
    const readBlocks = async () => (await loopPass(`read blocks of ${chain.chainId}`, () => poll(reader))).waitMs;
    const reading = repeat(both, report, readBlocks).finally(() => over.abort());
    const readAgain = async () => {
      await loopPass(`read again on ${chain.chainId}`, () => readUnread(reader));
      await loopPass(`search tokens on ${chain.chainId}`, () => searchGaps(reader));
      return unreadPauseMs;
    };
    const compare = async (everyMs: number) => {
      await loopPass(`compare endpoints of ${chain.chainId}`, () => compareEndpoints(reader));
      return everyMs;
    };
    const isCompared = compareEveryMs !== null && chain.rpcUrls.length > 1;
    const comparing = isCompared ? repeat(both, report, () => compare(compareEveryMs)) : null;
    await Promise.all([reading, repeat(both, report, readAgain), comparing]);
  };
}

/** The lease with which processes agree who reads a chain. */
export function leaseName(chain: ChainConfig): string {
  return `chain-${chain.chainId}`;
}

/** A reader for the holder of a chain's lease; from now on no earlier holder can write. */
export async function makeReader(
  ctx: Pick<Context, 'db' | 'log'>,
  { chain, testMode }: { chain: ChainConfig; testMode: boolean },
  lease: Lease,
  hooks: WatchHooks,
  signal: AbortSignal,
): Promise<Reader> {
  await raiseFence(ctx.db, chain.chainId, lease);
  const reader: Reader = {
    db: ctx.db,
    log: ctx.log,
    chain,
    testMode,
    lease,
    pool: makePool(chain.rpcUrls),
    wallets: watchedWallets(ctx.db, testMode),
    hooks,
    signal,
    range: firstRange,
    doubts: new Map(),
    comparison: newComparison(),
    cursor: null,
    progressAtMs: Number.NEGATIVE_INFINITY,
    mayBeUnread: true,
    gaps: { isPossible: true, ranges: new Map(), refused: new Map(), restUntilMs: 0 },
  };
  await noteTokensRead(reader);
  return reader;
}

/** Works repeatedly until the signal aborts, or another process leads the chain. */
async function repeat(
  signal: AbortSignal,
  report: (error: unknown) => void,
  work: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    let waitMs = troublePauseMs;
    try {
      waitMs = await work();
    } catch (error) {
      if (error instanceof Deposed) return;
      report(error);
    }
    await pause(waitMs, signal);
  }
}
