import { chunksOf } from '../lib/chunks.ts';
import { mapLimited } from '../lib/concurrency/map-limited.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { rememberNoBatches, takesBatches } from './batches.ts';
import { connectRpc, type Fetched, type Header, nullOfRpc, type Rpc, RpcError } from './rpc.ts';

/** A transaction, and the block that it was found in. */
export type LocatedTransaction = { txHash: string; blockNumber: number; blockHash: string };

/**
 * A whole block is fetched if more than `maxByHash` of its transactions are wanted, and at least one in `maxInBlock`:
 * otherwise a few nearly free transfers would make us fetch all of it. The answer may have this many bytes for each
 * wanted transaction; a larger one is cut off, and the transactions are fetched by hash. So the cost of a block grows
 * with what is wanted of it.
 */
const maxByHash = 4;
const maxInBlock = 4;
const bytesPerWanted = 64 * 1024;
/** How many transactions are in one message, and how many messages are sent at once. */
const batchSize = 25;
const messagesAtOnce = 4;

/** How many transactions that were requested alone are kept. */
const maxAlone = 8;

/** By endpoint: until when no whole blocks are requested from it, because it did not answer in time. */
const withoutBlocks = new Map<string, number>();
/**
 * How long no whole blocks are requested: a single large transaction, which is then postponed, can make an endpoint
 * slow.
 */
const silentMs = 15_000;

/**
 * Asks an endpoint for transactions with their receipts and their blocks' headers in as few messages as it allows: a
 * whole block at once if a good part of it is wanted, the others in batches.
 *
 * This only saves messages. An answer can lack something (the endpoint lacks these calls, or fails on a transaction) or
 * report it in another block. That is then requested alone when it is needed, and only that answer counts. Callers also
 * request alone what contradicts the chain. Throws no RpcError.
 *
 * @param limitMs how long one message may take, in whole milliseconds. All together take at most twice as long
 * @param known a header that need not be requested
 * @returns an endpoint that answers from what was fetched
 */
export async function prefetch(
  rpc: Rpc,
  wanted: readonly LocatedTransaction[],
  limitMs: number,
  known: Header | null = null,
): Promise<Rpc> {
  const headers = new Map(known ? [[known.number, known]] : []);
  const fetched: Fetched = { transactions: new Map(), receipts: new Map(), headers };
  const quick = connectRpc(rpc.url, limitMs);
  const deadline = performance.now() + limitMs;
  // One transaction can move money many times, to as many payments.
  const transactions = [...new Map(wanted.map((one) => [`${one.txHash} ${one.blockHash}`, one])).values()];
  const blocks = [...Map.groupBy(transactions, ({ blockHash }) => blockHash).values()];
  const crowdedBlocks = blocks.filter((block) => block.length > maxByHash);
  await mapLimited(crowdedBlocks, messagesAtOnce, async (block) => {
    if (performance.now() < deadline) await queryBlock(quick, block, fetched, deadline);
  });
  const missing = transactions.filter(
    ({ txHash }) => !fetched.transactions.has(txHash) || !fetched.receipts.has(txHash),
  );
  await mapLimited(chunksOf(missing, batchSize), messagesAtOnce, async (part) => {
    if (performance.now() < deadline) await queryBatch(quick, part, fetched);
  });
  const blockOf = new Map(wanted.map(({ txHash, blockHash }) => [txHash, blockHash]));
  const find = <T extends { blockHash: string | null }>(from: Map<string, T>, hash: string) => {
    const one = from.get(hash);
    return one && (blockOf.get(hash) ?? one.blockHash) === one.blockHash ? one : undefined;
  };
  const [transactionAlone, receiptAlone] = [queryOnce(rpc.transaction), queryOnce(rpc.receipt)];
  return {
    ...rpc,
    transaction: async (hash) => find(fetched.transactions, hash) ?? transactionAlone(hash),
    receipt: async (hash) => find(fetched.receipts, hash) ?? receiptAlone(hash),
    header: async (block) => (typeof block === 'number' ? fetched.headers.get(block) : undefined) ?? rpc.header(block),
  };
}

/**
 * Keeps the newest answers: a transaction that made thousands of transfers is wanted for each of them. Only a few,
 * because each can be large.
 */
function queryOnce<T>(ask: (hash: string) => Promise<T>): (hash: string) => Promise<T> {
  const newest = new Map<string, Promise<T>>();
  return (hash) => {
    const known = newest.get(hash);
    if (known) return known;
    const asked = ask(hash);
    keepNewest(newest, hash, asked, maxAlone);
    return asked;
  };
}

async function queryBlock(
  rpc: Rpc,
  block: readonly LocatedTransaction[],
  fetched: Fetched,
  deadline: number,
): Promise<void> {
  if ((withoutBlocks.get(rpc.url) ?? 0) > performance.now()) return;
  const { blockNumber = 0, blockHash = '' } = block[0] ?? {};
  const nothing = (error: unknown) => {
    if (error instanceof RpcError && error.kind === 'timeout') withoutBlocks.set(rpc.url, performance.now() + silentMs);
    return nullOfRpc(error);
  };
  const header = fetched.headers.get(blockNumber) ?? (await rpc.header(blockNumber).catch(nothing));
  if (!header) return;
  fetched.headers.set(blockNumber, header);
  if (block.length * maxInBlock < header.transactionCount || performance.now() >= deadline) return;
  const hashes = new Set(block.map(({ txHash }) => txHash));
  const maxBytes = block.length * bytesPerWanted;
  const [receipts, full] = await Promise.all([
    rpc.blockReceipts(blockHash, hashes, maxBytes).catch(nothing),
    rpc.fullBlock(blockNumber, hashes, maxBytes).catch(nothing),
  ]);
  for (const receipt of receipts ?? []) fetched.receipts.set(receipt.txHash, receipt);
  if (full) fetched.headers.set(blockNumber, full.header);
  for (const one of full?.transactions ?? []) fetched.transactions.set(one.hash, one);
}

async function queryBatch(rpc: Rpc, part: readonly LocatedTransaction[], fetched: Fetched): Promise<void> {
  if (!takesBatches(rpc.url, 'reads')) return;
  const hashes = [...new Set(part.map(({ txHash }) => txHash))];
  const numbers = new Set(part.map(({ blockNumber }) => blockNumber));
  try {
    const more = await rpc.together({
      transactions: hashes.filter((hash) => !fetched.transactions.has(hash)),
      receipts: hashes.filter((hash) => !fetched.receipts.has(hash)),
      headers: [...numbers].filter((number) => !fetched.headers.has(number)),
    });
    for (const [hash, one] of more.transactions) fetched.transactions.set(hash, one);
    for (const [hash, one] of more.receipts) fetched.receipts.set(hash, one);
    for (const [number, one] of more.headers) fetched.headers.set(number, one);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    rememberNoBatches(rpc.url, 'reads', error);
  }
}
