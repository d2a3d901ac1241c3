import { randomUUID } from 'node:crypto';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { pause } from '../../lib/time.ts';
import { firstRange } from './blocks.ts';
import { type Lease, whileLeading } from './lease.ts';
import { makePool } from './pool.ts';
import { poll, type Reader, type WatchHooks } from './read.ts';
import { Deposed, raiseFence } from './store.ts';
import { readUnread } from './unread.ts';
import { watchedWallets } from './wallets.ts';

export type { WatchHooks } from './read.ts';

const troublePauseMs = 1_000;
const unreadPauseMs = 1_000;

/**
 * Reads all chains of both modes into the table `transfers` until the signal aborts. Each chain has its own loop, so
 * that trouble on one delays no other. Over all processes, one at a time leads a chain; another takes over within 15 s.
 */
export async function startWatching(ctx: Context, hooks: WatchHooks, signal: AbortSignal): Promise<void> {
  const holder = randomUUID();
  const all = [
    ...ctx.chains.test.map((chain) => ({ chain, testMode: true })),
    ...ctx.chains.live.map((chain) => ({ chain, testMode: false })),
  ];
  await Promise.all(all.map(({ chain, testMode }) => watchChain(ctx, chain, testMode, holder, hooks, signal)));
}

/** Reads one chain whenever this process leads it. */
async function watchChain(
  ctx: Context,
  chain: ChainConfig,
  testMode: boolean,
  holder: string,
  hooks: WatchHooks,
  signal: AbortSignal,
): Promise<void> {
  const report = (error: unknown) => ctx.log.error({ err: error, chain: chain.chainId }, 'the chain watcher failed');
  const work = async (lease: Lease, leading: AbortSignal) => {
    ctx.log.info({ chain: chain.chainId, fence: lease.fence }, 'leading the chain');
    const over = new AbortController();
    const both = AbortSignal.any([leading, over.signal]);
    const reader = await makeReader(ctx, chain, testMode, lease, hooks, both);
    const reading = repeat(both, report, async () => (await poll(reader)).waitMs).finally(() => over.abort());
    await Promise.all([reading, repeat(both, report, () => readUnread(reader).then(() => unreadPauseMs))]);
  };
  await whileLeading(ctx.db, leaseName(chain), holder, signal, work, report);
}

/** The lease by which processes agree who reads a chain. */
export function leaseName(chain: ChainConfig): string {
  return `chain-${chain.chainId}`;
}

/** A reader for the holder of a chain's lease; from now on no earlier holder can write. */
export async function makeReader(
  ctx: Pick<Context, 'db' | 'log'>,
  chain: ChainConfig,
  testMode: boolean,
  lease: Lease,
  hooks: WatchHooks,
  signal: AbortSignal,
): Promise<Reader> {
  await raiseFence(ctx.db, chain.chainId, lease);
  return {
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
    cursor: null,
    progressAtMs: 0,
    mayBeUnread: true,
  };
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
