import { setImmediate } from 'node:timers/promises';
import { chunksOf } from '../../lib/chunks.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { prefetch } from '../prefetch.ts';
import { type Header, isProviderDown, type Log, nullOfRpc, type Receipt, type Rpc, RpcError } from '../rpc.ts';
import { checkLogs, lacksAnnounced, paidBy, topicOf, transferOf, transferTopic } from './blocks.ts';
import { bloomHas, bloomHasOnce, bloomOf, isSaturated } from './bloom.ts';
import { ProviderFault } from './pool.ts';
import type { FoundTransfer, Unread } from './store.ts';
import { type Reading, readTransaction } from './transaction.ts';
import type { Owner } from './wallets.ts';

/** Blocks whose empty answer could not be checked, and how often it was given. */
export type Doubts = Map<string, { asked: number; sinceMs: number }>;

/**
 * If no other endpoint can be asked, an empty answer is believed once it was given this often, over at least this time.
 */
const believedAfter = { asked: 3, ms: 3_000 };

/** Counts a block's doubtful answer. True once it was repeated often enough, over long enough; it is then forgotten. */
function countDoubt(doubts: Doubts, { hash }: Header): boolean {
  const doubt = doubts.get(hash) ?? { asked: 0, sinceMs: performance.now() };
  doubt.asked++;
  if (doubts.size > 1_000) doubts.clear();
  doubts.set(hash, doubt);
  if (doubt.asked < believedAfter.asked || performance.now() - doubt.sinceMs < believedAfter.ms) return false;
  doubts.delete(hash);
  return true;
}

/** Which wallets' transfers of a block are wanted, and which providers are asked. */
export type Search = {
  tokens: readonly string[];
  owners: ReadonlyMap<string, Owner>;
  rpc: Rpc;
  /** For a cross-check. */
  other: Rpc | null;
  doubts: Doubts;
};

/**
 * The token transfers of one block. For a block with more than a provider returns, only those to watched wallets.
 *
 * If an answer lacks what the block's filter announces, the block's receipts decide, whose own filter must equal the
 * header's. Otherwise another provider decides, or asking again in later passes.
 *
 * @returns null when no provider returns them, however often asked: the block must be set aside
 * @throws ProviderFault, RpcError
 */
export async function logsOfBlock(header: Header, search: Search): Promise<Log[] | null> {
  const { tokens, rpc, other, doubts } = search;
  const logs = await queryTokenLogs(rpc, header, tokens);
  if (!logs) return logsByWallet(header, search);
  if (!lacksAnnounced(header, logs, tokens)) return logs;

  const receipts = await answerOrNull(rpc, () => rpc.blockReceipts(header.hash));
  if (receipts) return transfersIn(header, receipts, tokens);
  const second = other && (await queryTokenLogs(other, header, tokens).catch(nullOfRpc));
  if (second) {
    if (second.length === logs.length) return logs;
    throw new ProviderFault(
      `block ${header.number}: ${rpc.host} has ${logs.length} logs, ${other.host} ${second.length}`,
    );
  }
  if (countDoubt(doubts, header)) return logs;
  throw new ProviderFault(
    `block ${header.number}: the endpoint sent no logs, although the bloom filter announces some`,
  );
}

/** Null if the provider does not return so many logs. */
function queryTokenLogs(
  rpc: Rpc,
  header: Header,
  tokens: readonly string[],
  wallets?: string[],
): Promise<Log[] | null> {
  return answerOrNull(rpc, async () => {
    const logs = wallets
      ? await rpc.logsOfBlock(header.hash, tokens, transferTopic, null, wallets)
      : await rpc.logsOfBlock(header.hash, tokens, transferTopic);
    checkLogs(header, logs, tokens);
    return logs;
  });
}

async function answerOrNull<T>(rpc: Rpc, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    // A provider that complains about too many calls is left alone.
    if (!(error instanceof RpcError) || error.kind === 'limited' || (await isProviderDown(rpc))) throw error;
    return null;
  }
}

const walletsPerQuery = 500;
const maxQueriesPerBlock = 200;

/**
 * Only the transfers of a block to these wallets, for one with more than a provider returns.
 *
 * @param wallets as topics
 * @returns null where these cannot be returned either
 */
async function logsTo(
  header: Header,
  wallets: readonly string[],
  { tokens, rpc }: Pick<Search, 'tokens' | 'rpc'>,
): Promise<Log[] | null> {
  const parts = chunksOf(wallets, walletsPerQuery);
  if (parts.length > maxQueriesPerBlock) return null;
  const answers = await mapLimited(parts, 4, (part) => queryTokenLogs(rpc, header, tokens, part));
  if (answers.includes(null)) return null;
  return answers.flatMap((answer) => answer ?? []).sort((a, b) => a.logIndex - b.logIndex);
}

const topicsOf = (owners: ReadonlyMap<string, Owner>) => [...owners.keys()].map(topicOf);

/**
 * The transfers of a block to watched wallets, as one provider reports them; null if it does not return them.
 *
 * @throws ProviderFault, RpcError
 */
export async function watchedTransfers(
  header: Header,
  { owners, ...asked }: Pick<Search, 'tokens' | 'rpc' | 'owners'>,
): Promise<Log[] | null> {
  return logsTo(header, topicsOf(owners), asked);
}

/** Requests only the transfers to watched wallets; null when these cannot be returned either, however often asked. */
async function logsByWallet(header: Header, { tokens, owners, rpc, doubts }: Search): Promise<Log[] | null> {
  const topics = topicsOf(owners);
  const logs = await logsTo(header, topics, { tokens, rpc });
  if (logs && !(await lacksAnnouncedWallet(header, logs, tokens, topics))) return logs;
  if (countDoubt(doubts, header)) return logs;
  throw new ProviderFault(`block ${header.number}: its transfers cannot be determined`);
}

const hashedAtOnce = 500;

/** True when the block's filter announces a transfer to one of these wallets that the answer lacks. */
async function lacksAnnouncedWallet(
  { logsBloom }: Header,
  logs: readonly Log[],
  tokens: readonly string[],
  topics: readonly string[],
): Promise<boolean> {
  if (isSaturated(logsBloom) || !tokens.some((token) => bloomHas(logsBloom, [token, transferTopic]))) return false;
  const paid = new Set(logs.map((log) => log.topics[2]));
  for (const [i, topic] of topics.entries()) {
    if (i % hashedAtOnce === 0) await setImmediate();
    if (!paid.has(topic) && bloomHasOnce(logsBloom, topic)) return true;
  }
  return false;
}

/** A block can contain a hundred thousand logs, so other work gets its turn while they are hashed. */
async function bloomOfMany(logs: readonly Log[]): Promise<string> {
  let bits = 0n;
  for (let at = 0; at < logs.length; at += hashedAtOnce) {
    bits |= BigInt(bloomOf(logs.slice(at, at + hashedAtOnce)));
    await setImmediate();
  }
  return `0x${bits.toString(16).padStart(512, '0')}`;
}

async function transfersIn(header: Header, receipts: readonly Receipt[], tokens: readonly string[]): Promise<Log[]> {
  const all = receipts.flatMap((receipt) => receipt.logs);
  if ((await bloomOfMany(all)) !== header.logsBloom) {
    throw new ProviderFault(`block ${header.number}: its receipts do not match its bloom filter`);
  }
  const logs = all.filter((log) => tokens.includes(log.address) && log.topics[0] === transferTopic);
  checkLogs(header, logs, tokens);
  return logs;
}

/** The transfers among these logs that pay a watched wallet, by transaction. */
export function watchedLogs(logs: readonly Log[], owners: ReadonlyMap<string, Owner>): Map<string, Log[]> {
  return Map.groupBy(
    logs.filter((log) => owners.has(paidBy(log) ?? '')),
    (log) => log.txHash,
  );
}

function ownersOf(logs: readonly Log[], owners: ReadonlyMap<string, Owner>): Record<string, Owner> {
  const own = logs.flatMap((log) => {
    const to = transferOf(log)?.to ?? '';
    const owner = owners.get(to);
    return owner ? [[to, owner]] : [];
  });
  return Object.fromEntries(own);
}

/** What was found in a block, and which parts could not be read. */
export type BlockContent = { transfers: FoundTransfer[]; unread: Unread[] };

/** The longest wait for what is requested together. What did not arrive is requested alone. */
const aheadMs = 4_000;

/**
 * The transfers of a block to watched wallets, with what their transactions carry. Only those transactions are fetched;
 * one that cannot be read is set aside.
 *
 * @throws ProviderFault when the provider's transaction or receipt is missing or contradicts the log
 * @throws RpcError when the first does not answer
 */
export async function findTransfers(header: Header, logs: readonly Log[], reading: Reading): Promise<BlockContent> {
  const { owners } = reading;
  const found: BlockContent = { transfers: [], unread: [] };
  const watched = [...watchedLogs(logs, owners)];
  const wanted = watched.map(([txHash]) => ({ txHash, blockNumber: header.number, blockHash: header.hash }));
  const [first, ...others] = reading.rpcs;
  const rpcs = first ? [await prefetch(first, wanted, aheadMs, header), ...others] : [];
  const read = await mapLimited(watched, 4, async ([txHash, own]) => {
    const readFrom = (from: readonly Rpc[]) => readTransaction(header, txHash, own, { ...reading, rpcs: from }, false);
    // An answer in a batch that contradicts the log is requested again, alone.
    const transfers = await readFrom(rpcs).catch((error) => {
      if (error instanceof ProviderFault) return readFrom(reading.rpcs);
      throw error;
    });
    return { txHash, own, transfers };
  });
  for (const { txHash, own, transfers } of read) {
    if (transfers) found.transfers.push(...transfers);
    else found.unread.push({ block: header, txHash, logs: own, owners: ownersOf(own, owners) });
  }
  return found;
}
