import { createHash } from 'node:crypto';
import { clearAlarm, raiseAlarm } from '../../db/alarms.ts';
import { dayMs } from '../../lib/durations.ts';
import { keepNewest } from '../../lib/keep-newest.ts';
import { isAway, type Log, type Rpc, RpcError } from '../rpc.ts';
import { nextRange, paidBy, transferTopic } from './blocks.ts';
import { watchedTransfers } from './find.ts';
import { ProviderFault, type RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';
import { type Cursor, selectBlocks } from './store.ts';
import { countUnread, insertOmitted, selectPlaces } from './unread-store.ts';

/** How far the logs that were read have been compared with another endpoint. */
export type Comparison = {
  /** Null before it is known. */
  upTo: number | null;
  /** By block number: what it was read with. */
  read: Map<number, Reading>;
  range: number;
  /** How often blocks that were read were taken back. */
  rewinds: number;
  /** When logs were last found left out. */
  foundAtMs: number;
};

/** A digest of a block's logs, and the endpoint that told them. */
type Reading = { digest: string; url: string };

const firstRange = 100;
/** What was read is forgotten beyond that many blocks: two endpoints are then asked. */
const mostRemembered = 5_000;
/** While so many transactions are set aside, nothing more is compared: an endpoint can invent any number of them. */
const mostSetAside = 1_000;
/** The operator is told so long of logs that were left out. */
const toldForMs = dayMs;

/** A comparison that begins with the oldest stored block. An alarm of an earlier one may still be raised. */
export function newComparison(): Comparison {
  return { upTo: null, read: new Map(), range: firstRange, rewinds: 0, foundAtMs: performance.now() };
}

/** Remembers which logs a block was read with, and who told them. */
export function noteRead({ read }: Comparison, number: number, logs: readonly Log[], { url }: Pick<Rpc, 'url'>): void {
  keepNewest(read, number, { digest: digestOf(logs), url }, mostRemembered);
}

/** After a reorganisation: what follows this block is read again, and compared again. */
export function forgetAfter(comparison: Comparison, number: number): void {
  comparison.rewinds++;
  for (const later of comparison.read.keys()) if (later > number) comparison.read.delete(later);
  if (comparison.upTo !== null) comparison.upTo = Math.min(comparison.upTo, number);
}

const placeOf = ({ txHash, logIndex }: { txHash: string; logIndex: number | null }) => `${txHash} ${logIndex}`;
const digestOf = (logs: readonly Log[]) => createHash('sha256').update(logs.map(placeOf).join()).digest('base64');

/**
 * Compares the token transfers of the blocks that were read with those that another endpoint than the one that told
 * them reports. An endpoint can leave some out; a transfer to a watched wallet that only the other one reports is set
 * aside to be read again, and the operator is told. Each message is limited, and what could not be compared is compared
 * next time.
 *
 * @throws database errors
 */
export async function compareEndpoints(reader: Reader): Promise<void> {
  const { db, chain, comparison, cursor } = reader;
  if (!cursor) return;
  try {
    await compareUpTo(reader, cursor);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    tellFailure(reader, error);
  }
  if (performance.now() - comparison.foundAtMs < toldForMs) return;
  comparison.foundAtMs = Number.POSITIVE_INFINITY;
  await clearAlarm(db.sql, 'chain-left-out', String(chain.chainId));
}

const tellFailure = ({ log, chain }: Reader, { message: reason }: RpcError): void =>
  log.warn({ chain: chain.chainId, reason }, 'endpoints could not be compared');

async function compareUpTo(reader: Reader, cursor: Cursor): Promise<void> {
  const { db, chain, comparison } = reader;
  comparison.upTo ??= Math.min(...(await selectBlocks(db, chain.chainId)).keys());
  const ends = new Map<Rpc, Promise<number>>();
  const endOf = (rpc: Rpc) => {
    const end = ends.get(rpc) ?? lastShared(reader, rpc, cursor);
    ends.set(rpc, end);
    return end;
  };
  while (comparison.upTo < cursor.number && !reader.signal.aborted) {
    const part = nextPart(comparison, cursor.number);
    const asked = await endpointsFor(reader, part, endOf);
    if (!asked || asked.to < part.from) return;
    const { rewinds } = comparison;
    const range = { from: part.from, to: Math.min(part.to, asked.to) };
    const compared = await compareRange(reader, range, asked.rpcs);
    if (!compared || comparison.rewinds !== rewinds) return; // a reorganisation was faster
    comparison.upTo = range.to;
  }
}

type Range = { from: number; to: number };
/** Blocks that the same endpoint has told, if that is known. */
type Part = Range & { url: string | null };

function nextPart({ upTo, range, read }: Comparison, last: number): Part {
  const from = (upTo ?? 0) + 1;
  const url = read.get(from)?.url ?? null;
  let to = from;
  while (to < Math.min(from + range - 1, last) && (read.get(to + 1)?.url ?? null) === url) to++;
  return { from, to, url };
}

/**
 * Whom to ask about a part: one that has not told it, which is furthest; two where nobody knows who told it.
 *
 * @returns null when there is nobody; `to`: the last block that they have
 */
async function endpointsFor(
  { pool }: Reader,
  { url }: Part,
  endOf: (rpc: Rpc) => Promise<number>,
): Promise<{ rpcs: Rpc[]; to: number } | null> {
  const isUsable = (provider: RpcProvider) => provider.checked === 'yes' && pool.isAwake(provider);
  const rpcs = pool.providers.filter((one) => one.rpc.url !== url && isUsable(one)).map(({ rpc }) => rpc);
  const ends = await Promise.all(rpcs.map(async (rpc) => ({ rpc, to: await endOf(rpc) })));
  const chosen = ends.sort((a, b) => b.to - a.to).slice(0, url === null ? 2 : 1);
  if (chosen.length < (url === null ? 2 : 1)) return null;
  return { rpcs: chosen.map(({ rpc }) => rpc), to: Math.min(...chosen.map(({ to }) => to)) };
}

/** The last block of those that were read that an endpoint has, and all before it; -1 where it is not known to. */
async function lastShared(reader: Reader, rpc: Rpc, cursor: Cursor): Promise<number> {
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
    tellFailure(reader, error);
    return -1;
  }
}

/** A log, the host of the endpoint that reports it, and of one that reports other logs of its block. */
type ToldLog = { log: Log; by: string; unlike: string };

/** False when the blocks must be compared later. */
async function compareRange(reader: Reader, range: Range, rpcs: readonly Rpc[]): Promise<boolean> {
  const { comparison, wallets } = reader;
  const { rewinds } = comparison;
  const [first, second] = await Promise.all(rpcs.map((rpc) => logsOf(reader, rpc, range)));
  if (!first || second === null) return false;
  const told: ToldLog[] = [];
  for (let number = range.from; number <= range.to; number++) {
    const reading = second ? readingOf(second, number) : comparison.read.get(number);
    if (!reading) return false; // forgotten meanwhile
    if (readingOf(first, number).digest === reading.digest) continue;
    const [by, unlike] = [first.host, new URL(reading.url).host];
    for (const log of first.logs.get(number) ?? []) told.push({ log, by, unlike });
    for (const log of second?.logs.get(number) ?? []) told.push({ log, by: unlike, unlike: by });
  }
  if (told.length > 0) await wallets.refresh();
  const watched = told.filter(({ log }) => wallets.owners.has(paidBy(log) ?? ''));
  if (comparison.rewinds !== rewinds) return false;
  if (watched.length > 0 && !(await setAside(reader, range, watched))) return false;
  for (let number = range.from; number <= range.to; number++) comparison.read.delete(number);
  return true;
}

/** What an endpoint reports of some blocks. */
type Answer = Pick<Rpc, 'url' | 'host'> & { logs: Map<number, Log[]> };

const readingOf = ({ url, logs }: Answer, number: number): Reading => ({
  url,
  digest: digestOf(logs.get(number) ?? []),
});

/** Null where fewer blocks are to be asked for. */
async function logsOf(reader: Reader, rpc: Rpc, { from, to }: Range): Promise<Answer | null> {
  const { url, host } = rpc;
  const tokens = reader.chain.tokens.map(({ address }) => address);
  const { comparison } = reader;
  try {
    const logs = await rpc.logsOfRange(from, to, tokens, transferTopic);
    comparison.range = nextRange(comparison.range, true);
    return { url, host, logs: Map.groupBy(logs, (log) => log.blockNumber) };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind === 'limited' || (await isAway(rpc))) throw error;
    comparison.range = nextRange(to - from + 1, false);
    return from === to ? { url, host, logs: new Map([[from, await watchedLogsOf(reader, rpc, from)]]) } : null;
  }
}

/** For one block with more logs than an endpoint returns. What it does not tell by wallet either is not compared. */
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

/** False when too many wait already. */
async function setAside(reader: Reader, { from }: Range, told: readonly ToldLog[]): Promise<boolean> {
  const { db, testMode } = reader;
  const { chainId, name } = reader.chain;
  const stored = await selectPlaces(db, chainId, [...new Set(told.map(({ log }) => log.txHash))]);
  const places = new Set(stored.map(placeOf));
  const left = told.filter(({ log }) => !places.has(placeOf(log)) && !places.has(placeOf({ ...log, logIndex: null })));
  const [first] = left;
  if (!first) return true;
  if ((await countUnread(db, chainId)) >= mostSetAside) return false;
  const logs = left.map(({ log }) => log);
  let added = 0;
  for (const [wallet, own] of Map.groupBy(logs, (log) => paidBy(log) ?? ''))
    added += await insertOmitted(db, { chainId, testMode }, wallet, from - 1, own, true);
  if (added === 0) return true;
  reader.mayBeUnread = true;
  reader.comparison.foundAtMs = performance.now();
  const transactions = [...new Set(logs.map(({ txHash }) => txHash))].slice(0, 5);
  const details = { chainId, chain: name, host: first.unlike, other: first.by, transactions };
  reader.log.error(details, 'an endpoint does not report transfers that another one reports');
  await raiseAlarm(db.sql, { kind: 'chain-left-out', subject: String(chainId), details });
  return true;
}
