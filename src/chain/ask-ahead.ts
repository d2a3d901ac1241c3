import { chunksOf } from '../lib/chunks.ts';
import { mapFew } from '../lib/map-few.ts';
import { takesBatches, withoutBatches } from './batches.ts';
import { connectRpc, type Header, nullOfRpc, type Rpc, RpcError, type Told } from './rpc.ts';

/** A transaction, and the block that it was found in. */
export type Placed = { txHash: string; blockNumber: number; blockHash: string };

/**
 * A whole block is asked for where more than `mostByHash` of its transactions are wanted, and at least one of
 * `mostInBlock`: otherwise a few transfers that cost their sender next to nothing would make us fetch all of it. Of what
 * comes, so many bytes count for each that is wanted, and an answer that is larger is cut; then they are asked for by
 * hash. So the cost of a block grows with what is wanted of it.
 */
const mostByHash = 4;
const mostInBlock = 4;
const bytesPerWanted = 64 * 1024;
/** So many transactions in one message, and messages at once. */
const batchSize = 25;
const messagesAtOnce = 4;

/** By endpoint: until when it is not asked for whole blocks, because it did not answer in time. */
const withoutBlocks = new Map<string, number>();
/** One large transaction can make it slow, which is then put off. */
const silentMs = 15_000;

/**
 * Asks an endpoint for transactions with their receipts and their blocks' headers in as few messages as it allows: for
 * a whole block at once where a good part of it is wanted, for the others in batches.
 *
 * It only saves messages. Whatever is missing of the answer (an endpoint without these calls, a transaction on which it
 * fails or drops the connection) or places a transaction in another block is asked for by itself when it is needed, and
 * that answer counts. Callers ask singly about what contradicts the chain, too. Throws no RpcError.
 *
 * @param limitMs how long one message may take, in whole milliseconds. All together take at most twice as long
 * @param known a header that need not be asked for
 * @returns an endpoint that answers from what was told
 */
export async function askAhead(
  rpc: Rpc,
  wanted: readonly Placed[],
  limitMs: number,
  known: Header | null = null,
): Promise<Rpc> {
  const headers = new Map(known ? [[known.number, known]] : []);
  const told: Told = { transactions: new Map(), receipts: new Map(), headers };
  const quick = connectRpc(rpc.url, limitMs);
  const deadline = performance.now() + limitMs;
  // One transaction can move money many times, to as many payments.
  const each = [...new Map(wanted.map((one) => [`${one.txHash} ${one.blockHash}`, one])).values()];
  const blocks = [...Map.groupBy(each, ({ blockHash }) => blockHash).values()];
  const many = blocks.filter((block) => block.length > mostByHash);
  await mapFew(many, messagesAtOnce, async (block) => {
    if (performance.now() < deadline) await askBlock(quick, block, told, deadline);
  });
  const left = each.filter(({ txHash }) => !told.transactions.has(txHash) || !told.receipts.has(txHash));
  await mapFew(chunksOf(left, batchSize), messagesAtOnce, async (part) => {
    if (performance.now() < deadline) await askBatch(quick, part, told);
  });
  const blockOf = new Map(wanted.map(({ txHash, blockHash }) => [txHash, blockHash]));
  const find = <T extends { blockHash: string | null }>(from: Map<string, T>, hash: string) => {
    const one = from.get(hash);
    return one && (blockOf.get(hash) ?? one.blockHash) === one.blockHash ? one : undefined;
  };
  return {
    ...rpc,
    transaction: async (hash) => find(told.transactions, hash) ?? rpc.transaction(hash),
    receipt: async (hash) => find(told.receipts, hash) ?? rpc.receipt(hash),
    header: async (block) => (typeof block === 'number' ? told.headers.get(block) : undefined) ?? rpc.header(block),
  };
}

async function askBlock(rpc: Rpc, block: readonly Placed[], told: Told, deadline: number): Promise<void> {
  if ((withoutBlocks.get(rpc.url) ?? 0) > performance.now()) return;
  const { blockNumber = 0, blockHash = '' } = block[0] ?? {};
  const nothing = (error: unknown) => {
    if (error instanceof RpcError && error.kind === 'timeout') withoutBlocks.set(rpc.url, performance.now() + silentMs);
    return nullOfRpc(error);
  };
  const header = told.headers.get(blockNumber) ?? (await rpc.header(blockNumber).catch(nothing));
  if (!header) return;
  told.headers.set(blockNumber, header);
  if (block.length * mostInBlock < header.transactionCount || performance.now() >= deadline) return;
  const hashes = new Set(block.map(({ txHash }) => txHash));
  const maxBytes = block.length * bytesPerWanted;
  const [receipts, full] = await Promise.all([
    rpc.blockReceipts(blockHash, hashes, maxBytes).catch(nothing),
    rpc.fullBlock(blockNumber, hashes, maxBytes).catch(nothing),
  ]);
  for (const receipt of receipts ?? []) told.receipts.set(receipt.txHash, receipt);
  if (full) told.headers.set(blockNumber, full.header);
  for (const one of full?.transactions ?? []) told.transactions.set(one.hash, one);
}

async function askBatch(rpc: Rpc, part: readonly Placed[], told: Told): Promise<void> {
  if (!takesBatches(rpc.url, 'reads')) return;
  const hashes = [...new Set(part.map(({ txHash }) => txHash))];
  const numbers = new Set(part.map(({ blockNumber }) => blockNumber));
  try {
    const more = await rpc.together({
      transactions: hashes.filter((hash) => !told.transactions.has(hash)),
      receipts: hashes.filter((hash) => !told.receipts.has(hash)),
      headers: [...numbers].filter((number) => !told.headers.has(number)),
    });
    for (const [hash, one] of more.transactions) told.transactions.set(hash, one);
    for (const [hash, one] of more.receipts) told.receipts.set(hash, one);
    for (const [number, one] of more.headers) told.headers.set(number, one);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    withoutBatches(rpc.url, 'reads', error);
  }
}
