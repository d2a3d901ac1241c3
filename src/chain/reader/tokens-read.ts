import type { Rpc } from '../rpc.ts';
import { largestRange, nextRange, paidBy } from './blocks.ts';
import { contentOf, type Range } from './comparison.ts';
import { type EndOf, endsUpTo, newestEndpoints } from './endpoints-asked.ts';
import type { Reader } from './read.ts';
import { askLogs, type ReportedLogs } from './reported-logs.ts';
import { hostsAtLimit, setAside } from './set-aside.ts';
import { countUntried, type Gap, noteTokens, selectGap, shortenGap } from './tokens-read-store.ts';

/** Once this many transactions wait to be read, no more are searched for. */
const maxWaiting = 200;
const passMs = 5_000;
/** How long to wait if too few endpoints have the logs. */
const restMs = 10_000;

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
 * a watched wallet in it are set aside, and then read as any other. If several endpoints are configured, two are asked:
 * one can leave payments out, and no later comparison goes back so far.
 *
 * @throws database errors
 */
export async function searchGaps(reader: Reader): Promise<void> {
  const { db, chain, cursor, gaps, signal } = reader;
  if (!gaps.isPossible || !cursor || performance.now() < gaps.restUntilMs) return;
  const untilMs = performance.now() + passMs;
  const pass: Pass = { endOf: endsUpTo(reader, cursor), failed: new Set(), full: await hostsAtLimit(reader) };
  while (!signal.aborted && performance.now() < untilMs) {
    const gap = await selectGap(db, chain.chainId);
    gaps.isPossible = gap !== null;
    if (!gap || (await countUntried(db, chain.chainId)) >= maxWaiting) return;
    const asked = await endpointsFor(reader, gap, pass);
    if (!asked || asked.to <= gap.after) {
      gaps.restUntilMs = performance.now() + restMs;
      gaps.refused.clear();
      reader.log.warn(
        { chain: chain.chainId, token: gap.token, after: gap.after },
        'too few endpoints answer to search',
      );
      return;
    }
    const range = { from: gap.after + 1, to: Math.min(gap.to, asked.to, gap.after + asked.range) };
    const reports = await queryReports(reader, gap.token, range, asked.rpcs, pass.failed);
    if (!reports) continue;
    if (!(await setAsidePaying(reader, range, reports))) return;
    await shortenGap(db, chain.chainId, gap, range.to);
    if (range.to < gap.to) continue;
    reader.log.info(
      { chain: chain.chainId, token: gap.token, block: gap.to },
      'blocks read without a token were searched',
    );
  }
}

type Pass = {
  endOf: EndOf;
  /** Endpoints that did not answer in this pass. */
  failed: Set<Rpc>;
  /**
   * Hosts of endpoints that have reported as much as is accepted. Nothing that was reported waits for its first
   * reading then, so they have made it up, and are not needed.
   */
  full: ReadonlySet<string>;
};

/** The endpoints to ask next: two of those that may have the logs, or the only one. */
function endpointsFor(reader: Reader, gap: Gap, { endOf, failed, full }: Pass) {
  const { pool, gaps } = reader;
  const isUnable = ({ url, host }: Rpc) => full.has(host) || gap.after < (gaps.refused.get(url) ?? -1);
  const count = Math.min(2, Math.max(1, pool.providers.filter(({ rpc }) => !isUnable(rpc)).length));
  const isExcluded = (rpc: Rpc) => failed.has(rpc) || isUnable(rpc);
  return newestEndpoints(reader, { count, isExcluded, endOf, ranges: gaps.ranges });
}

/** Null if others must be asked, or fewer blocks must be requested. */
async function queryReports(
  reader: Reader,
  token: string,
  range: Range,
  rpcs: readonly Rpc[],
  failed: Set<Rpc>,
): Promise<ReportedLogs[] | null> {
  const { ranges, refused } = reader.gaps;
  const query = { tokens: [token], ranges };
  const answers = await Promise.all(rpcs.map((rpc) => askLogs(reader, rpc, range, query, failed)));
  const reports = answers.filter((one) => one !== null);
  const unable = reports.filter(({ isRefused }) => isRefused);
  // It has probably deleted logs of this age: it is asked again about later blocks.
  for (const { url } of unable) refused.set(url, range.to + largestRange);
  return unable.length > 0 || reports.length < answers.length ? null : reports;
}

/** False if an endpoint reports more than is accepted from one: the rest is set aside later. */
async function setAsidePaying(reader: Reader, range: Range, reports: readonly ReportedLogs[]): Promise<boolean> {
  const { wallets, gaps } = reader;
  await wallets.refresh();
  const all = reports.map(({ host, logs }) => ({ by: host, logs: [...logs.values()].flat() }));
  const reported = all.flatMap(({ by, logs }) => {
    const other = all.find((one) => one.by !== by) ?? null;
    const theirs = new Set(other?.logs.map(contentOf));
    const paying = logs.filter((log) => wallets.owners.has(paidBy(log) ?? ''));
    return paying.map((log) => ({ log, by, differsFrom: theirs.has(contentOf(log)) ? null : (other?.by ?? null) }));
  });
  if (reported.length === 0 || (await setAside(reader, range, reported))) return true;
  const fewer = nextRange(range.to - range.from + 1, false);
  for (const { url } of reports) gaps.ranges.set(url, fewer);
  return false;
}
