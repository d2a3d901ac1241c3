import { type Header, isProviderDown, type Log, type Receipt, type Rpc, RpcError, type Transaction } from '../rpc.ts';
import { authorizationUsedTopic, type Bindings, chargedTopic, readBindings } from './bindings.ts';
import { transferOf } from './blocks.ts';
import { ProviderFault } from './pool.ts';
import { calldataReferences, isEntryPoint } from './reference.ts';
import type { FoundTransfer } from './store.ts';
import type { Owner } from './wallets.ts';

/** Which wallets transactions are read for, and which providers they are read from. */
export type Reading = {
  owners: ReadonlyMap<string, Owner>;
  /** The provider that is read from, and another for what the first cannot return. */
  rpcs: readonly Rpc[];
  /** The contract for recurring payments. */
  contract: string;
};

/**
 * Reads what a transaction carries for its transfers to watched wallets.
 *
 * @param logs those transfers, as reported in the block's logs
 * @param acceptsLess stores them even without the parts of the transaction that no provider returns
 * @returns null when no provider returns enough: whatever a transaction does, the next one can still be read
 * @throws ProviderFault, RpcError
 */
export async function readTransaction(
  header: Header,
  txHash: string,
  logs: readonly Log[],
  { owners, rpcs, contract }: Reading,
  acceptsLess: boolean,
): Promise<FoundTransfer[] | null> {
  const [answeredTx, answeredReceipt] = await Promise.all([
    queryEach(rpcs, (rpc) => rpc.transaction(txHash)),
    queryEach(rpcs, (rpc) => rpc.receipt(txHash)),
  ]);
  const [tx, receipt] = [answeredTx?.answer, answeredReceipt?.answer];
  const isOther = answeredReceipt && (receipt?.blockHash !== header.hash || !receipt.success);
  if (isOther || (answeredTx && tx?.hash !== txHash)) {
    throw new ProviderFault(`block ${header.number}: the provider's receipt of ${txHash} does not fit its log`);
  }
  const ordinals = receipt ? ordinalsIn(receipt, logs, header) : await ordinalsWithout(header, txHash, logs, rpcs);
  const referenceOf = tx && readReferences(tx, receipt ?? null, logs, ordinals ?? [], owners);
  if (!ordinals || (!referenceOf && !acceptsLess)) return null;
  const bindingsOf = receipt
    ? readBindings(receipt.logs, contract)
    : await bindingsWithout(header, txHash, { logs, ordinals }, rpcs, contract);
  if (!bindingsOf && !acceptsLess) return null;
  return logs.flatMap((log, i) => {
    const transfer = transferOf(log);
    const owner = transfer && owners.get(transfer.to);
    if (!transfer || !owner) return [];
    const ordinal = ordinals[i] ?? 0;
    return {
      txHash,
      ordinal,
      logIndex: log.logIndex,
      block: header,
      tokenAddress: log.address,
      fromAddress: transfer.from,
      toAddress: transfer.to,
      value: transfer.value,
      partnerId: owner.partnerId,
      accountId: owner.accountId,
      calldataRead: !!referenceOf,
      calldataReference: referenceOf?.({ from: transfer.from, ordinal }) ?? null,
      logsRead: !!bindingsOf,
      feeWei: receipt?.feeWei ?? null,
      ...(bindingsOf?.(ordinal) ?? { authorizationNonce: null, chargedReference: null }),
    };
  });
}

/**
 * The first answer; null when none of them has one. If the first provider does not answer at all, no other is asked.
 */
async function queryEach<T>(rpcs: readonly Rpc[], ask: (rpc: Rpc) => Promise<T>): Promise<{ answer: T } | null> {
  for (const [i, rpc] of rpcs.entries()) {
    try {
      return { answer: await ask(rpc) };
    } catch (error) {
      if (!(error instanceof RpcError) || (i === 0 && (await isProviderDown(rpc)))) throw error;
    }
  }
  return null;
}

/** Null if a receipt is needed that no provider returns. */
function readReferences(
  tx: Transaction,
  receipt: Receipt | null,
  logs: readonly Log[],
  ordinals: readonly number[],
  owners: ReadonlyMap<string, Owner>,
) {
  if (!receipt && isEntryPoint(tx.to)) return null;
  const candidates = logs.flatMap((log, i) => {
    const transfer = transferOf(log);
    return transfer && owners.has(transfer.to) ? [{ from: transfer.from, ordinal: ordinals[i] ?? 0 }] : [];
  });
  return calldataReferences(tx, receipt?.logs ?? [], candidates);
}

/** The positions of logs within their transaction. */
function ordinalsIn(receipt: Receipt, logs: readonly Log[], header: Header): number[] {
  const places = new Map(receipt.logs.map((log, ordinal) => [log.logIndex, ordinal]));
  return logs.map((log) => {
    const ordinal = places.get(log.logIndex) ?? -1;
    if (!isSame(receipt.logs[ordinal], log)) {
      throw new ProviderFault(`block ${header.number}: a log of ${receipt.txHash} is not in its receipt`);
    }
    return ordinal;
  });
}

/** Whether two logs say the same. */
function isSame(a: Log | undefined, b: Log): boolean {
  return a?.address === b.address && a.data === b.data && a.topics.join() === b.topics.join();
}

/**
 * As `ordinalsIn`, without the receipt. A block numbers its logs consecutively, so those of earlier transactions show
 * where this one's begin.
 */
async function ordinalsWithout(
  header: Header,
  txHash: string,
  logs: readonly Log[],
  rpcs: readonly Rpc[],
): Promise<number[] | null> {
  const first = (await queryEach(rpcs, (rpc) => countLogsBefore(rpc, header, txHash)))?.answer ?? null;
  if (first === null || logs.some(({ logIndex }) => logIndex < first)) return null;
  return logs.map(({ logIndex }) => logIndex - first);
}

/** How many transactions without logs are skipped on the way back. */
const maxSteps = 20;

async function countLogsBefore(rpc: Rpc, header: Header, txHash: string): Promise<number | null> {
  const hashes = (await rpc.transactionHashes(header.hash)) ?? [];
  const own = hashes.indexOf(txHash);
  for (let at = own - 1; at >= 0 && own - at <= maxSteps; at--) {
    const receipt = await rpc.receipt(hashes[at] as string);
    if (receipt?.blockHash !== header.hash) return null;
    const last = receipt.logs.at(-1);
    if (last) return last.logIndex + 1;
  }
  return own >= 0 && own <= maxSteps ? 0 : null;
}

/** What transfers were made for, without the receipt: from those logs of the block that say so. */
async function bindingsWithout(
  header: Header,
  txHash: string,
  { logs, ordinals }: { logs: readonly Log[]; ordinals: readonly number[] },
  rpcs: readonly Rpc[],
  contract: string,
): Promise<((ordinal: number) => Bindings) | null> {
  const addresses = [...new Set(logs.map(({ address }) => address)), contract];
  const topics = [authorizationUsedTopic, chargedTopic];
  const answers = await queryEach(rpcs, (rpc) => rpc.logsOfBlock(header.hash, addresses, topics));
  const [log, ordinal] = [logs[0], ordinals[0]];
  if (!answers || !log || ordinal === undefined) return null;
  const placed: Log[] = [];
  for (const one of [...answers.answer, ...logs]) {
    const at = one.logIndex - log.logIndex + ordinal;
    if (one.txHash === txHash && at >= 0) placed[at] = one;
  }
  return readBindings(placed, contract);
}
