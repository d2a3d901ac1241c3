import { createHash } from 'node:crypto';
import { clearAlarm, raiseAlarm } from '../../db/alarms.ts';
import { dayMs } from '../../lib/durations.ts';
import { keepNewest } from '../../lib/keep-newest.ts';
import { isAway, type Log, type Rpc, RpcError } from '../rpc.ts';
import { nextRange, paidBy, transferTopic } from './blocks.ts';
import type { RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';
import { selectBlocks } from './store.ts';
import { countUnread, insertOmitted, selectPlaces } from './unread-store.ts';

/** How far the logs that were read have been compared with another endpoint. */
export type Comparison = {
  /** Null before it is known. */
  upTo: number | null;
  /** By block number: a digest of the logs that it was read with. */
  read: Map<number, string>;
  range: number;
  /** When logs were last found left out. */
  foundAtMs: number;
};

const firstRange = 100;
/** What was read is forgotten beyond that many blocks: its endpoint is then asked again. */
const mostRemembered = 5_000;
/** While so many transactions are set aside, nothing more is compared: an endpoint can invent any number of them. */
const mostSetAside = 1_000;
/** The operator is told so long of logs that were left out. */
const toldForMs = dayMs;

/** A comparison that begins with the oldest stored block. An alarm of an earlier one may still be raised. */
export function newComparison(): Comparison {
  return { upTo: null, read: new Map(), range: firstRange, foundAtMs: performance.now() };
}

/** Remembers which logs a block was read with. */
export function noteRead({ read }: Comparison, number: number, logs: readonly Log[]): void {
  keepNewest(read, number, digestOf(logs), mostRemembered);
}

/** After a reorganisation: what follows this block is read again, and compared again. */
export function forgetAfter(comparison: Comparison, number: number): void {
  for (const later of comparison.read.keys()) if (later > number) comparison.read.delete(later);
  if (comparison.upTo !== null) comparison.upTo = Math.min(comparison.upTo, number);
}

const placeOf = ({ txHash, logIndex }: { txHash: string; logIndex: number | null }) => `${txHash} ${logIndex}`;
const digestOf = (logs: readonly Log[]) => createHash('sha256').update(logs.map(placeOf).join()).digest('base64');

/**
 * Compares the token transfers of the blocks that were read with those that another endpoint reports. An endpoint can
 * leave some out; a transfer to a watched wallet that only the other one reports is set aside to be read again, and the
 * operator is told. Each message is limited, and what could not be compared is compared next time.
 *
 * @throws database errors
 */
export async function compareEndpoints(reader: Reader): Promise<void> {
  const { db, chain, comparison, cursor, pool } = reader;
  const provider = pool.pick();
  const other = provider && pool.other(provider);
  if (!cursor || !other) return;
  try {
    // It has this block, so it has all before it.
    if ((await other.rpc.header(cursor.number))?.hash !== cursor.hash) return;
    comparison.upTo ??= Math.min(...(await selectBlocks(db, chain.chainId)).keys());
    while (comparison.upTo < cursor.number && !reader.signal.aborted) {
      const from: number = comparison.upTo + 1;
      const to = Math.min(comparison.upTo + comparison.range, cursor.number);
      const compared = await compareRange(reader, { from, to }, provider, other.rpc);
      if (!compared || comparison.upTo !== from - 1) return; // a reorganisation was faster
      comparison.upTo = to;
    }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    reader.log.warn({ chain: chain.chainId, reason: error.message }, 'endpoints could not be compared');
  }
  if (performance.now() - comparison.foundAtMs < toldForMs) return;
  comparison.foundAtMs = Number.POSITIVE_INFINITY;
  await clearAlarm(db.sql, 'chain-left-out', String(chain.chainId));
}

type Range = { from: number; to: number };

/** False when the blocks must be compared later. */
async function compareRange(reader: Reader, range: Range, provider: RpcProvider, other: Rpc): Promise<boolean> {
  const { comparison, wallets } = reader;
  const theirs = await logsOf(reader, other, range);
  if (!theirs) return false;
  const numbers = Array.from({ length: range.to - range.from + 1 }, (_, i) => range.from + i);
  if (!numbers.every((number) => comparison.read.has(number))) {
    const ours = await logsOf(reader, provider.rpc, range);
    if (!ours) return false;
    for (const number of numbers)
      if (!comparison.read.has(number)) noteRead(comparison, number, ours.get(number) ?? []);
  }
  const told = numbers.flatMap((number) => {
    const logs = theirs.get(number) ?? [];
    return digestOf(logs) === comparison.read.get(number) ? [] : logs;
  });
  if (told.length > 0) await wallets.refresh();
  const watched = told.filter((log) => wallets.owners.has(paidBy(log) ?? ''));
  if (watched.length > 0 && !(await setAside(reader, range, provider, watched))) return false;
  for (const number of numbers) comparison.read.delete(number);
  return true;
}

/** By block; null where fewer blocks are to be asked for. */
async function logsOf(reader: Reader, rpc: Rpc, { from, to }: Range): Promise<Map<number, Log[]> | null> {
  const tokens = reader.chain.tokens.map(({ address }) => address);
  const { comparison } = reader;
  try {
    const logs = await rpc.logsOfRange(from, to, tokens, transferTopic);
    comparison.range = nextRange(comparison.range, true);
    return Map.groupBy(logs, (log) => log.blockNumber);
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind === 'limited' || (await isAway(rpc))) throw error;
    comparison.range = nextRange(to - from + 1, false);
    // One block with more logs than it returns: those of watched wallets were read by wallet.
    return from === to ? new Map() : null;
  }
}

/** False when too many wait already. */
async function setAside(
  reader: Reader,
  { from }: Range,
  provider: RpcProvider,
  logs: readonly Log[],
): Promise<boolean> {
  const { db, testMode } = reader;
  const { chainId, name } = reader.chain;
  const stored = await selectPlaces(db, chainId, [...new Set(logs.map(({ txHash }) => txHash))]);
  const places = new Set(stored.map(placeOf));
  const left = logs.filter((log) => !places.has(placeOf(log)) && !places.has(placeOf({ ...log, logIndex: null })));
  if (left.length === 0) return true;
  if ((await countUnread(db, chainId)) >= mostSetAside) return false;
  let added = 0;
  for (const [wallet, own] of Map.groupBy(left, (log) => paidBy(log) ?? ''))
    added += await insertOmitted(db, { chainId, testMode }, wallet, from - 1, own, true);
  if (added === 0) return true;
  reader.mayBeUnread = true;
  reader.comparison.foundAtMs = performance.now();
  const transactions = [...new Set(left.map(({ txHash }) => txHash))].slice(0, 5);
  const details = { chainId, chain: name, host: provider.rpc.host, transactions };
  reader.log.error(details, 'an endpoint left out transfers that another one reports');
  await raiseAlarm(db.sql, { kind: 'chain-left-out', subject: String(chainId), details });
  return true;
}
