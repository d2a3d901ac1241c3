import { minuteMs } from '../../lib/durations.ts';
import { type Rpc, RpcError } from '../rpc.ts';
import { nextRange, paidBy, transferTopic } from './blocks.ts';
import type { Reader } from './read.ts';
import { countUntried, type Gap, noteTokens, selectGap, shortenGap } from './tokens-read-store.ts';
import { requestReread } from './unread-store.ts';

/** Once this many transactions wait to be read, no more are searched for. */
const maxWaiting = 200;
const passMs = 5_000;
/** How long to wait after an endpoint did not report even one block. */
const restMs = minuteMs;

/** Notes which tokens this leader reads, and in which mode, before it reads; tells the operator what has changed. */
export async function noteTokensRead({ db, log, chain, testMode, lease }: Reader): Promise<void> {
  const { chainId } = chain;
  const tokens = chain.tokens.map(({ address }) => address);
  const { left, gaps } = await noteTokens(db, { chainId, testMode }, lease, tokens);
  for (const { token, at } of left)
    log.warn({ chain: chainId, token, block: at }, 'CHAINS_FILE lacks a token: payments in it after this block wait');
  for (const { token, after, to } of gaps)
    log.warn(
      { chain: chainId, token, after, to },
      'CHAINS_FILE has a token again: blocks read without it are searched',
    );
}

/**
 * Searches the blocks that were read without a token that is back in CHAINS_FILE, beside reading. Transactions that pay
 * a watched wallet in it are set aside, and then read as any other.
 *
 * @throws database errors
 */
export async function searchGaps(reader: Reader): Promise<void> {
  const { db, chain, pool, gaps, signal } = reader;
  const provider = pool.pick();
  if (!gaps.isPossible || provider?.checked !== 'yes' || performance.now() < gaps.restUntilMs) return;
  const untilMs = performance.now() + passMs;
  while (!signal.aborted && performance.now() < untilMs) {
    const gap = await selectGap(db, chain.chainId);
    gaps.isPossible = gap !== null;
    if (!gap || (await countUntried(db, chain.chainId)) >= maxWaiting) return;
    const upTo = Math.min(gap.to, gap.after + gaps.range);
    try {
      await searchBlocks(reader, provider.rpc, gap, upTo);
      gaps.range = nextRange(gaps.range, true);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (gaps.range === 1 || error.kind === 'limited') gaps.restUntilMs = performance.now() + restMs;
      gaps.range = nextRange(gaps.range, false);
      const { message: reason } = error;
      reader.log.warn({ chain: chain.chainId, token: gap.token, reason }, 'blocks could not be searched for a token');
      return;
    }
  }
}

async function searchBlocks(reader: Reader, rpc: Rpc, gap: Gap, upTo: number): Promise<void> {
  const { db, chain, testMode, wallets } = reader;
  const logs = await rpc.logsOfRange(gap.after + 1, upTo, [gap.token], transferTopic);
  await wallets.refresh();
  const paying = Map.groupBy(logs, (log) => paidBy(log) ?? '');
  for (const [wallet, transactions] of paying) {
    if (!wallets.owners.has(wallet)) continue;
    reader.mayBeUnread = true;
    const reread = { wallet, transactions, sinceBlock: gap.after, isKnown: true };
    await requestReread(db, { chainId: chain.chainId, testMode }, reread);
  }
  await shortenGap(db, chain.chainId, gap, upTo);
  if (upTo < gap.to) return;
  reader.log.info({ chain: chain.chainId, token: gap.token, block: upTo }, 'blocks read without a token were searched');
}
