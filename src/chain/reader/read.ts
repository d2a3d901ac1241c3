import type { Logger } from 'pino';
import type { ChainConfig } from '../../config/chains.ts';
import type { Database, Tx } from '../../db/connection.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { finalNumber, usesTag } from '../finality.ts';
import { contractToRead } from '../recurring/contract.ts';
import { type Header, isProviderDown, type Log, RpcError } from '../rpc.ts';
import { type FinalityTag, taggedNumber } from '../tagged-blocks.ts';
import { checkLinked, checkLogs, checkOneBlockEach, lacksAnnounced, nextRange, transferTopic } from './blocks.ts';
import { checkOther, checkProvider } from './check-provider.ts';
import { selectKnownBlock } from './checkpoints-store.ts';
import { type Comparison, discardAfter, noteRead } from './comparison.ts';
import { type BlockContent, type Doubts, findTransfers, logsOfBlock } from './find.ts';
import { findFirst } from './first-block.ts';
import type { Lease } from './lease.ts';
import { ProviderFault, type RpcPool, type RpcProvider } from './pool.ts';
import type { RemovedTransfer } from './removed.ts';
import { rewind } from './rewind.ts';
import * as store from './store.ts';
import type { Wallets } from './wallets.ts';

export type WatchHooks = {
  /**
   * Called in the transaction, as the owner role, that removed transfers after a reorganisation; matches their
   * requests again. It may be called again for the same transfers when that transaction fails.
   */
  onRemoved: (tx: Tx, removed: RemovedTransfer[]) => Promise<void>;
};

/** What the leader of one chain needs in order to read it. */
export type Reader = {
  db: Database;
  log: Logger;
  chain: ChainConfig;
  testMode: boolean;
  lease: Lease;
  pool: RpcPool;
  wallets: Wallets;
  hooks: WatchHooks;
  /** Aborts when the lease is lost or the service stops. */
  signal: AbortSignal;
  /** Blocks asked for at once while catching up. */
  range: number;
  doubts: Doubts;
  comparison: Comparison;
  /**
   * How far this reader has read; null before it knows, and after a failure. Each write compares it with the stored
   * value.
   */
  cursor: store.Cursor | null;
  /** When it was last stored that the chain was read although nothing was new; minus infinity before the first time. */
  progressAtMs: number;
  /** False once no transaction of the chain is known to be set aside. */
  mayBeUnread: boolean;
  /** How blocks that were read without a token are searched for it (`tokens-read.ts`). */
  gaps: {
    isPossible: boolean;
    /** How many blocks are requested from an endpoint at once, by its URL. */
    ranges: Map<string, number>;
    /** Endpoints that refused a block's logs, by URL, and the block after which they are asked again. */
    refused: Map<string, number>;
    restUntilMs: number;
  };
};

const stepsPerPass = 100;
const rewindsPerPass = 3;
/**
 * Within this distance of the head, blocks are read one by one: that is cheapest, and each answer is bound to its
 * block's hash.
 */
const nearHead = 3;
/** A provider whose head has not moved for this long is compared with another. */
const staleHeadMs = 10_000;
/** How often progress is stored while no block is made. A minute without it counts as silence. */
const progressEveryMs = 12_000;

/**
 * Reads from the cursor to the head, with one provider.
 *
 * A provider's error never moves the cursor: the provider rests, and the next pass asks another.
 *
 * @returns how long to wait before the next pass
 * @throws store.Deposed when another process leads; database errors
 */
export async function poll(reader: Reader): Promise<{ waitMs: number }> {
  const { pool, chain } = reader;
  const provider = pool.pick();
  if (!provider) return { waitMs: pool.restMs() };
  try {
    await checkProvider(reader, provider);
    for (const other of pool.providers) if (other !== provider && pool.isAwake(other)) void checkOther(reader, other);
    const behind = await readPass(reader, provider);
    pool.worked(provider);
    return { waitMs: behind > 0 ? 0 : chain.pollMs };
  } catch (error) {
    reader.cursor = null;
    if (!(error instanceof RpcError || error instanceof ProviderFault)) throw error;
    pool.failed(provider, error);
    reader.log.warn({ chain: chain.chainId, provider: provider.rpc.host, reason: error.message }, 'a provider failed');
    return { waitMs: pool.pick() ? 0 : pool.restMs() };
  }
}

/** One view of the chain's end: its newest block and the tags. */
type View = { head: Header; safe: number | null; finalized: number | null };

/** Returns how many blocks are still unread. */
async function readPass(reader: Reader, provider: RpcProvider): Promise<number> {
  const { db, chain, lease } = reader;
  const view = await readView(reader, provider);
  const cursor = reader.cursor ?? (await store.selectCursor(db, chain.chainId));
  if (!cursor) {
    const first = await findFirst(reader, provider, view.head);
    await store.insertCursor(db, chain.chainId, lease, first, progressOf(chain, view, first.number));
    return view.head.number - first.number;
  }
  await checkStaleHead(reader, provider, view.head);
  if (view.head.number < cursor.number && (await isJustBehind(reader, provider, view.head))) {
    // If it is the only provider, wait for it. Otherwise another one may be ahead.
    if (reader.pool.other(provider)) throw new ProviderFault(`its head ${view.head.number} is behind what was read`);
    return 0;
  }
  let at = cursor;
  if (view.head.hash !== cursor.hash) {
    // Requested after the head: every wallet paid in a block up to it is known by now.
    await reader.wallets.refresh();
    at = await readUpTo(reader, provider, cursor, view);
  }
  reader.cursor = at;
  await keepProgress(reader, view, at);
  return view.head.number - at.number;
}

/**
 * Reads towards the head, across reorganisations; stops after a number of steps, so that the head is requested again.
 */
async function readUpTo(reader: Reader, provider: RpcProvider, from: store.Cursor, view: View): Promise<store.Cursor> {
  const { head } = view;
  let at = from;
  let rewinds = 0;
  for (let step = 0; step < stepsPerPass && at.hash !== head.hash && !reader.signal.aborted; step++) {
    const next: store.Cursor | null = at.number < head.number ? await readOn(reader, provider, at, view) : null;
    if (!next && ++rewinds > rewindsPerPass) throw new ProviderFault('the chain keeps changing while it is read');
    at = next ?? (await rewind(reader, provider, at, head, progressOf(reader.chain, view, at.number)));
    if (!next) discardAfter(reader.comparison, at.number);
  }
  return at;
}

async function readView({ chain, log }: Reader, { rpc }: RpcProvider): Promise<View> {
  const numberOf = async (tag: FinalityTag) => {
    const tell = () =>
      log.warn(
        { chain: chain.chainId, provider: rpc.host, tag },
        'an endpoint names no block by a tag that finality uses; payments that need it wait',
      );
    return usesTag(chain.finality, tag) ? taggedNumber(rpc, tag, tell) : null;
  };
  const [head, safe, finalized] = await Promise.all([rpc.header('latest'), numberOf('safe'), numberOf('finalized')]);
  if (!head) throw new ProviderFault('it has no latest block');
  return { head, safe, finalized };
}

function progressOf(chain: ChainConfig, view: View, readUpTo: number): store.Progress {
  const { safe, finalized } = view;
  const final = finalNumber(chain.finality, { latest: readUpTo, safe, finalized });
  return { head: view.head.number, final, safe, finalized };
}

/**
 * For a head behind the cursor: whether it is a block that was read, or the newest block known below it is on its
 * chain. If so, the provider is late; otherwise the chain was reorganised.
 */
async function isJustBehind(reader: Reader, { rpc }: RpcProvider, head: Header): Promise<boolean> {
  const known = await selectKnownBlock(reader.db, reader.chain.chainId, head.number);
  if (!known) return true;
  const theirs = known.number === head.number ? head : await rpc.header(known.number);
  return theirs === null || theirs.hash === known.hash;
}

async function checkStaleHead(reader: Reader, provider: RpcProvider, head: Header): Promise<void> {
  const now = performance.now();
  if (head.number > provider.head) {
    provider.head = head.number;
    provider.headAtMs = now;
  }
  const other = now - provider.headAtMs > staleHeadMs ? reader.pool.other(provider) : null;
  if (!other) return;
  provider.headAtMs = now;
  try {
    const theirs = await other.rpc.header('latest');
    if (!theirs || theirs.number <= head.number) return;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    reader.pool.failed(other, error);
    return;
  }
  throw new ProviderFault(`its head has stayed at ${head.number} while ${other.rpc.host} is ahead`);
}

async function keepProgress(reader: Reader, view: View, at: store.Cursor): Promise<void> {
  const now = performance.now();
  if (now - reader.progressAtMs < progressEveryMs) return;
  reader.progressAtMs = now;
  const progress = progressOf(reader.chain, view, at.number);
  const { unread } = await store.updateProgress(reader.db, reader.chain.chainId, reader.lease, progress);
  if (unread) reader.mayBeUnread = true;
}

/** Reads the next block or blocks; null when the block at the cursor is no longer on the chain. */
async function readOn(
  reader: Reader,
  provider: RpcProvider,
  at: store.Cursor,
  view: View,
): Promise<store.Cursor | null> {
  const behind = view.head.number - at.number;
  const count = behind <= nearHead ? 1 : Math.min(reader.range, behind);
  const numbers = Array.from({ length: count }, (_, i) => at.number + 1 + i);
  const headers = await mapLimited(numbers, 8, async (number) => {
    const header = number === view.head.number ? view.head : await provider.rpc.header(number);
    if (!header) throw new ProviderFault(`it does not have block ${number} below its head`);
    return header;
  });
  checkLinked(headers, at.number + 1);
  const last = headers.at(-1);
  if (!last || headers[0]?.parentHash !== at.hash) return null;

  const logs = count === 1 ? await readBlock(reader, provider, last) : await readRange(reader, provider, headers);
  if (!logs) return at;
  const found = await findAll(reader, provider, headers, logs);
  const progress = progressOf(reader.chain, view, last.number);
  const scope = { chainId: reader.chain.chainId, testMode: reader.testMode };
  await store.saveBlocks(reader.db, scope, reader.lease, { from: at, headers, ...found, progress });
  if (reader.chain.rpcUrls.length > 1)
    for (const { number } of headers) noteRead(reader.comparison, number, logs.get(number) ?? [], provider.rpc);
  for (const { txHash, block } of found.unread) {
    reader.mayBeUnread = true;
    reader.log.warn({ chain: scope.chainId, block: block.number, tx: txHash }, 'a transaction cannot be read');
  }
  return { number: last.number, hash: last.hash };
}

/** Null for a block whose logs no provider returns. */
type LogsByBlock = Map<number, Log[] | null>;

async function findAll(
  reader: Reader,
  provider: RpcProvider,
  headers: Header[],
  logs: LogsByBlock,
): Promise<BlockContent> {
  const other = reader.pool.other(provider);
  const rpcs = other ? [provider.rpc, other.rpc] : [provider.rpc];
  const reading = { owners: reader.wallets.owners, rpcs, contract: contractToRead(reader.chain) };
  const all: BlockContent = { transfers: [], unread: [] };
  for (const header of headers) {
    const own = logs.get(header.number);
    const found: BlockContent =
      own === null
        ? { transfers: [], unread: [{ block: header, txHash: null, logs: [], owners: {} }] }
        : await findTransfers(header, own ?? [], reading);
    all.transfers.push(...found.transfers);
    all.unread.push(...found.unread);
  }
  return all;
}

async function readBlock(reader: Reader, provider: RpcProvider, header: Header): Promise<LogsByBlock> {
  const tokens = reader.chain.tokens.map((token) => token.address);
  const other = reader.pool.other(provider)?.rpc ?? null;
  const search = { tokens, owners: reader.wallets.owners, rpc: provider.rpc, other, doubts: reader.doubts };
  return new Map([[header.number, await logsOfBlock(header, search)]]);
}

/** Logs of several blocks at once, each block checked as if requested alone; null: request fewer. */
async function readRange(reader: Reader, provider: RpcProvider, headers: Header[]): Promise<LogsByBlock | null> {
  const tokens = reader.chain.tokens.map((token) => token.address);
  const [from, to] = [headers[0]?.number ?? 0, headers.at(-1)?.number ?? 0];
  try {
    const all = await provider.rpc.logsOfRange(from, to, tokens, transferTopic);
    checkOneBlockEach(all);
    const logs: LogsByBlock = Map.groupBy(all, (log) => log.blockNumber);
    if ([...logs.keys()].some((number) => number < from || number > to)) {
      throw new ProviderFault(`it sent logs of blocks outside ${from} to ${to}`);
    }
    for (const header of headers) {
      const own = logs.get(header.number) ?? [];
      checkLogs(header, own, tokens);
      if (!lacksAnnounced(header, own, tokens)) continue;
      const again = (await readBlock(reader, provider, header)).get(header.number) ?? null;
      if (!again) logs.set(header.number, null);
      else if (again.length > own.length)
        throw new ProviderFault(`blocks ${from} to ${to}: logs of ${header.number} were left out`);
    }
    reader.range = nextRange(reader.range, true);
    return logs;
  } catch (error) {
    if (error instanceof RpcError || error instanceof ProviderFault) reader.range = nextRange(headers.length, false);
    // Each provider refuses large ranges with its own message. For a range that is small enough, all of them answer.
    if (error instanceof RpcError && error.kind !== 'limited' && !(await isProviderDown(provider.rpc))) return null;
    throw error;
  }
}
