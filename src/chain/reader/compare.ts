import { clearAlarm } from '../../db/alarms.ts';
import { dayMs } from '../../lib/durations.ts';
import { isProviderDown, type Log, type Rpc, RpcError } from '../rpc.ts';
import { firstRange, nextRange, paidBy, transferTopic } from './blocks.ts';
import { digestOf, nextReported, noteCompared, type Range, type Reading } from './comparison.ts';
import { watchedTransfers } from './find.ts';
import { ProviderFault, type RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';
import { hostsAtLimit, type ReportedLog, setAside } from './set-aside.ts';
import { type Cursor, selectBlocks } from './store.ts';

/** How long the alarm about logs that were left out stays raised. */
const alarmForMs = dayMs;
/** The longest time for comparing one endpoint's reports in a pass; the next pass continues. */
const maxPassMs = 10_000;

/**
 * Compares the token transfers of the blocks that were read with the report of another endpoint. An endpoint can leave
 * some out. A transfer to a watched wallet that only the other one reports is set aside to be read again, and the
 * operator is told. Each message has a time limit, and what could not be compared is compared next time. Each
 * endpoint's reports are compared separately. So an endpoint that does not answer, answers late or invents transactions
 * delays only comparisons with its answers, never the comparison of its own reports.
 *
 * @throws database errors
 */
export async function compareEndpoints(reader: Reader): Promise<void> {
  const { db, chain, comparison, cursor } = reader;
  if (!cursor) return;
  comparison.upTo ??= Math.min(...(await selectBlocks(db, chain.chainId)).keys());
  if (comparison.full.size > 0) comparison.full = await hostsAtLimit(reader);
  const ends = new Map<Rpc, Promise<number>>();
  const endOf = (rpc: Rpc) => {
    const end = ends.get(rpc) ?? lastCommonBlock(reader, rpc, cursor);
    ends.set(rpc, end);
    return end;
  };
  const reporters = new Set([null, ...[...comparison.read.values()].map(({ url }) => url)]);
  const passes = [...reporters].map((url) => compareReports(reader, url, cursor, endOf));
  for (const pass of await Promise.allSettled(passes)) if (pass.status === 'rejected') throw pass.reason;
  if (performance.now() - comparison.foundAtMs < alarmForMs) return;
  comparison.foundAtMs = Number.POSITIVE_INFINITY;
  await clearAlarm(db.sql, 'chain-left-out', String(chain.chainId));
}

const logFailure = ({ log, chain }: Reader, { host }: Rpc, { message: reason }: RpcError): void =>
  log.warn({ chain: chain.chainId, provider: host, reason }, 'endpoints could not be compared');

type EndOf = (rpc: Rpc) => Promise<number>;

/** Compares one endpoint's reports, as far as another can be asked. */
async function compareReports(reader: Reader, url: string | null, cursor: Cursor, endOf: EndOf): Promise<void> {
  const { comparison, signal } = reader;
  const { rewinds } = comparison;
  const failed = new Set<Rpc>();
  const untilMs = performance.now() + maxPassMs;
  let after = comparison.upTo ?? 0;
  while (!signal.aborted && performance.now() < untilMs) {
    const next = nextReported(comparison, url, after, cursor.number);
    const asked = next && (await endpointsFor(reader, url, failed, endOf));
    if (!asked || asked.to < next.from || comparison.rewinds !== rewinds) return;
    const range = { from: next.from, to: Math.min(next.to, asked.to, next.from + asked.range - 1) };
    const isCompared = await compareRange(reader, range, asked.rpcs, failed);
    if (comparison.rewinds !== rewinds) return; // a reorganisation was faster
    if (!isCompared) continue;
    noteCompared(comparison, range);
    after = range.to;
  }
}

/**
 * The endpoints to ask about one endpoint's reports: of the others, the one with the newest block; two if it is unknown
 * who reported.
 *
 * @returns null if there is none; `to`: the last block that they have; `range`: how many blocks they report at once
 */
async function endpointsFor(
  { pool, comparison }: Reader,
  url: string | null,
  failed: ReadonlySet<Rpc>,
  endOf: EndOf,
): Promise<{ rpcs: Rpc[]; to: number; range: number } | null> {
  const isUsable = (one: RpcProvider) =>
    one.checked === 'yes' && pool.isAwake(one) && !failed.has(one.rpc) && !comparison.full.has(one.rpc.host);
  const rpcs = pool.providers.filter((one) => one.rpc.url !== url && isUsable(one)).map(({ rpc }) => rpc);
  const ends = await Promise.all(rpcs.map(async (rpc) => ({ rpc, to: await endOf(rpc) })));
  const wanted = url === null ? 2 : 1;
  const chosen = ends.sort((a, b) => b.to - a.to).slice(0, wanted);
  if (chosen.length < wanted) return null;
  return {
    rpcs: chosen.map(({ rpc }) => rpc),
    to: Math.min(...chosen.map(({ to }) => to)),
    range: Math.min(...chosen.map(({ rpc }) => comparison.ranges.get(rpc.url) ?? firstRange)),
  };
}

/** The last block that was read here and up to which an endpoint has all blocks; -1 if that is not known. */
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

/**
 * False if the blocks must be compared later, or with other endpoints.
 *
 * @param failed gets those that do not answer
 */
async function compareRange(reader: Reader, range: Range, rpcs: readonly Rpc[], failed: Set<Rpc>): Promise<boolean> {
  const { comparison, wallets } = reader;
  const { rewinds } = comparison;
  const [first, second] = await Promise.all(rpcs.map((rpc) => logsOf(reader, rpc, range, failed)));
  if (!first || second === null) return false;
  const reported: ReportedLog[] = [];
  for (let number = range.from; number <= range.to; number++) {
    const reading = second ? readingOf(second, number) : comparison.read.get(number);
    if (!reading) return false; // forgotten meanwhile
    // If an earlier leader read the block, what it was read with is unknown: what both report must be stored.
    const isAlike = readingOf(first, number).digest === reading.digest;
    if (isAlike && !second) continue;
    const [by, differsFrom] = [first.host, isAlike ? null : new URL(reading.url).host];
    for (const log of first.logs.get(number) ?? []) reported.push({ log, by, differsFrom });
    if (differsFrom === null) continue;
    for (const log of second?.logs.get(number) ?? []) reported.push({ log, by: differsFrom, differsFrom: by });
  }
  if (reported.length > 0) await wallets.refresh();
  const watched = reported.filter(({ log }) => wallets.owners.has(paidBy(log) ?? ''));
  if (comparison.rewinds !== rewinds) return false;
  return watched.length === 0 || setAside(reader, range, watched);
}

/** What an endpoint reports about some blocks. */
type Answer = Pick<Rpc, 'url' | 'host'> & { logs: Map<number, Log[]> };

const readingOf = ({ url, logs }: Answer, number: number): Reading => ({
  url,
  digest: digestOf(logs.get(number) ?? []),
});

/** Null if fewer blocks must be requested, or the endpoint failed. */
async function logsOf(reader: Reader, rpc: Rpc, range: Range, failed: Set<Rpc>): Promise<Answer | null> {
  try {
    return await queryLogs(reader, rpc, range);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    logFailure(reader, rpc, error);
    failed.add(rpc);
    return null;
  }
}

/**
 * @returns null if fewer blocks must be requested
 * @throws RpcError
 */
async function queryLogs(reader: Reader, rpc: Rpc, { from, to }: Range): Promise<Answer | null> {
  const { url, host } = rpc;
  const tokens = reader.chain.tokens.map(({ address }) => address);
  const { ranges } = reader.comparison;
  try {
    const logs = await rpc.logsOfRange(from, to, tokens, transferTopic);
    ranges.set(url, nextRange(ranges.get(url) ?? firstRange, true));
    return { url, host, logs: Map.groupBy(logs, (log) => log.blockNumber) };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind === 'limited' || (await isProviderDown(rpc))) throw error;
    ranges.set(url, nextRange(to - from + 1, false));
    return from === to ? { url, host, logs: new Map([[from, await watchedLogsOf(reader, rpc, from)]]) } : null;
  }
}

/**
 * For one block with more logs than an endpoint returns. If it does not report them by wallet either, they are not
 * compared.
 */
async function watchedLogsOf(reader: Reader, rpc: Rpc, number: number): Promise<Log[]> {
  const { chain, wallets, log } = reader;
  await wallets.refresh();
  const header = await rpc.header(number);
  const tokens = chain.tokens.map(({ address }) => address);
  const asked = header && watchedTransfers(header, { tokens, rpc, owners: wallets.owners });
  const logs = await asked?.catch((error) => {
    if (error instanceof ProviderFault) return null; // told of another block, or of other tokens
    throw error;
  });
  if (!logs) log.warn({ chain: chain.chainId, provider: rpc.host, block: number }, 'a block could not be compared');
  return logs ?? [];
}
