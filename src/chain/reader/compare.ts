import { clearAlarm } from '../../db/alarms.ts';
import { dayMs } from '../../lib/durations.ts';
import type { Rpc } from '../rpc.ts';
import { paidBy } from './blocks.ts';
import { digestOf, nextReported, noteCompared, type Range, type Reading } from './comparison.ts';
import { type EndOf, endsUpTo, newestEndpoints } from './endpoints-asked.ts';
import type { Reader } from './read.ts';
import { askLogs, type ReportedLogs } from './reported-logs.ts';
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
  const endOf = endsUpTo(reader, cursor);
  const reporters = new Set([null, ...[...comparison.read.values()].map(({ url }) => url)]);
  const passes = [...reporters].map((url) => compareReports(reader, url, cursor, endOf));
  for (const pass of await Promise.allSettled(passes)) if (pass.status === 'rejected') throw pass.reason;
  if (performance.now() - comparison.foundAtMs < alarmForMs) return;
  comparison.foundAtMs = Number.POSITIVE_INFINITY;
  await clearAlarm(db.sql, 'chain-left-out', String(chain.chainId));
}

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
 * who reported. Null if there is none.
 */
function endpointsFor(reader: Reader, url: string | null, failed: ReadonlySet<Rpc>, endOf: EndOf) {
  const { full, ranges } = reader.comparison;
  const isExcluded = (rpc: Rpc) => rpc.url === url || failed.has(rpc) || full.has(rpc.host);
  return newestEndpoints(reader, { count: url === null ? 2 : 1, isExcluded, endOf, ranges });
}

/**
 * False if the blocks must be compared later, or with other endpoints.
 *
 * @param failed gets those that do not answer
 */
async function compareRange(reader: Reader, range: Range, rpcs: readonly Rpc[], failed: Set<Rpc>): Promise<boolean> {
  const { chain, comparison, wallets } = reader;
  const { rewinds, ranges } = comparison;
  const query = { tokens: chain.tokens.map(({ address }) => address), ranges };
  const [first, second] = await Promise.all(rpcs.map((rpc) => askLogs(reader, rpc, range, query, failed)));
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

const readingOf = ({ url, logs }: ReportedLogs, number: number): Reading => ({
  url,
  digest: digestOf(logs.get(number) ?? []),
});
