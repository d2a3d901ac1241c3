import { checkLogs, lacksPromised, readTransfer, transferTopic } from './blocks.ts';
import { bloomOf } from './bloom.ts';
import { ProviderFault } from './pool.ts';
import { calldataReference } from './reference.ts';
import { type Header, type Log, type Receipt, type Rpc, RpcError } from './rpc.ts';
import type { FoundTransfer } from './store.ts';
import type { Owner } from './wallets.ts';

/** Does work on each item, a few at a time, and keeps their order. */
export async function mapFew<T, R>(items: readonly T[], few: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: Math.min(few, items.length) }, lane));
  return results;
}

/** Blocks whose empty answer could not be checked, and how often it was given. */
export type Doubts = Map<string, { asked: number; sinceMs: number }>;

/** Where nothing else can be asked, an empty answer is believed after so many times, over so long. */
const believedAfter = { asked: 3, ms: 3_000 };

/**
 * The token transfers of one block.
 *
 * An answer that lacks what the block's filter promises is settled by the block's receipts, whose own filter must equal
 * the header's; else by another provider; else by asking again in later passes.
 *
 * @throws ProviderFault, RpcError
 */
export async function logsOfBlock(
  header: Header,
  tokens: readonly string[],
  rpc: Rpc,
  other: Rpc | null,
  doubts: Doubts,
): Promise<Log[]> {
  const logs = await rpc.logsOfBlock(header.hash, tokens, transferTopic);
  checkLogs(header, logs, tokens);
  if (!lacksPromised(header, logs, tokens)) return logs;

  const receipts = await allReceipts(rpc, header);
  if (receipts) return transfersIn(header, receipts, tokens);
  if (other) {
    const second = await other.logsOfBlock(header.hash, tokens, transferTopic);
    checkLogs(header, second, tokens);
    if (second.length === logs.length) return logs;
    throw new ProviderFault(
      `block ${header.number}: ${rpc.host} has ${logs.length} logs, ${other.host} ${second.length}`,
    );
  }
  const doubt = doubts.get(header.hash) ?? { asked: 0, sinceMs: performance.now() };
  doubt.asked++;
  if (doubts.size > 1_000) doubts.clear();
  doubts.set(header.hash, doubt);
  if (doubt.asked < believedAfter.asked || performance.now() - doubt.sinceMs < believedAfter.ms) {
    throw new ProviderFault(`block ${header.number}: no logs came, but the filter promises some`);
  }
  doubts.delete(header.hash);
  return logs;
}

/** Null when the provider cannot tell them all at once. */
async function allReceipts(rpc: Rpc, header: Header): Promise<Receipt[] | null> {
  try {
    return await rpc.blockReceipts(header.hash);
  } catch (error) {
    if (error instanceof RpcError && ['refused', 'malformed', 'too_large'].includes(error.kind)) return null;
    throw error;
  }
}

function transfersIn(header: Header, receipts: readonly Receipt[], tokens: readonly string[]): Log[] {
  const all = receipts.flatMap((receipt) => receipt.logs);
  if (bloomOf(all) !== header.logsBloom) {
    throw new ProviderFault(`block ${header.number}: its receipts do not make its filter`);
  }
  const logs = all.filter((log) => tokens.includes(log.address) && log.topics[0] === transferTopic);
  checkLogs(header, logs, tokens);
  return logs;
}

/**
 * The transfers of a block to watched wallets, with what their transactions carry. Only those transactions are fetched.
 *
 * @throws ProviderFault when the provider's transaction or receipt is missing or contradicts the log
 */
export async function findTransfers(
  header: Header,
  logs: readonly Log[],
  owners: ReadonlyMap<string, Owner>,
  rpc: Rpc,
): Promise<FoundTransfer[]> {
  const wanted = Map.groupBy(
    logs.filter((log) => {
      const transfer = readTransfer(log);
      return transfer && transfer.value > 0n && transfer.from !== transfer.to && owners.has(transfer.to);
    }),
    (log) => log.txHash,
  );
  const found = await mapFew([...wanted], 4, ([txHash, own]) => readTransaction(header, txHash, own, owners, rpc));
  return found.flat();
}

async function readTransaction(
  header: Header,
  txHash: string,
  logs: readonly Log[],
  owners: ReadonlyMap<string, Owner>,
  rpc: Rpc,
): Promise<FoundTransfer[]> {
  const [tx, receipt] = await Promise.all([rpc.transaction(txHash), rpc.receipt(txHash)]);
  if (tx?.hash !== txHash || receipt?.blockHash !== header.hash || !receipt.success) {
    throw new ProviderFault(`block ${header.number}: the provider's receipt of ${txHash} does not fit its log`);
  }
  const found = logs.map((log) => {
    const ordinal = receipt.logs.findIndex((other) => other.logIndex === log.logIndex);
    const transfer = readTransfer(log);
    const owner = transfer && owners.get(transfer.to);
    if (!transfer || !owner || !isSame(receipt.logs[ordinal], log)) {
      throw new ProviderFault(`block ${header.number}: a log of ${txHash} is not in its receipt`);
    }
    return { log, ordinal, transfer, owner };
  });
  const candidates = found.map(({ ordinal, transfer }) => ({ from: transfer.from, ordinal }));
  return found.map(({ log, ordinal, transfer, owner }) => ({
    txHash,
    ordinal,
    block: header,
    tokenAddress: log.address,
    fromAddress: transfer.from,
    toAddress: transfer.to,
    value: transfer.value,
    partnerId: owner.partnerId,
    accountId: owner.accountId,
    calldataReference: calldataReference(tx, receipt.logs, candidates, { from: transfer.from, ordinal }),
  }));
}

/** Whether two logs say the same. */
function isSame(a: Log | undefined, b: Log): boolean {
  return a?.address === b.address && a.data === b.data && a.topics.join() === b.topics.join();
}
