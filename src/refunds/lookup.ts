import { isFinalForAll, queryHeads } from '../chain/endpoint-heads.ts';
import { transferOf } from '../chain/reader/blocks.ts';
import { connectRpc, type Receipt, RpcError } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';

/** For each of the two questions, one after the other. A person waits for the answers. */
const timeoutMs = 2_500;

/** What a transaction must do to refund a payment. */
export type ExpectedRefund = {
  refundTxHash: string;
  tokenAddress: string;
  /** The merchant's wallet that was paid. */
  fromAddress: string;
  /** Who paid. */
  toAddress: string;
  usdcMicro: bigint;
  /** It must be mined in the payment's block or later. */
  sinceBlock: number;
};

/**
 * What a chain reports. `unknown`: no endpoint knows it. `waiting`: it is not mined. `unavailable`: no endpoint that
 * could know answered. Otherwise it is mined: it `refunds`, does something `other`, or has `failed`.
 */
export type RefundLookup =
  | { kind: 'unknown' | 'waiting' | 'unavailable' }
  /** `movedMicro`: the total moved to the payer, including for other payments; `minedIn`: its block. */
  | { kind: 'refunds'; movedMicro: bigint; minedIn: number; final: boolean }
  | { kind: 'other' | 'failed'; final: boolean };

/**
 * Looks up a refund transaction at every endpoint, for at most 5 seconds. It is final only if all report the same, and
 * each has its block deep enough: one of them could be on a chain of its own.
 */
export async function lookUpRefund(chain: ChainConfig, wanted: ExpectedRefund): Promise<RefundLookup> {
  const answers = await Promise.all(chain.rpcUrls.map((url) => queryOne(url, wanted.refundTxHash)));
  const [receipt] = answers.flatMap((answer) => (typeof answer === 'object' ? [answer] : []));
  if (!receipt) {
    if (answers.includes('waiting')) return { kind: 'waiting' };
    return { kind: answers.includes('unavailable') ? 'unavailable' : 'unknown' };
  }
  const seenIn = (one: Receipt) => [one.blockHash, one.blockNumber, one.success, movedMicro(one, wanted)].join();
  const agreed = answers.every((answer) => typeof answer === 'object' && seenIn(answer) === seenIn(receipt));
  const heads = agreed ? await queryHeads(chain, timeoutMs) : null;
  const final = heads !== null && isFinalForAll(heads, receipt.blockNumber, wanted.usdcMicro, chain);
  if (!receipt.success) return { kind: 'failed', final };
  const { blockNumber: minedIn } = receipt;
  const moved = minedIn < wanted.sinceBlock ? 0n : movedMicro(receipt, wanted);
  return moved > 0n ? { kind: 'refunds', movedMicro: moved, minedIn, final } : { kind: 'other', final };
}

async function queryOne(url: string, txHash: string): Promise<Receipt | 'waiting' | 'unknown' | 'unavailable'> {
  const rpc = connectRpc(url, timeoutMs);
  try {
    const [receipt, transaction] = await Promise.all([rpc.receipt(txHash), rpc.transaction(txHash)]);
    return receipt ?? (transaction ? 'waiting' : 'unknown');
  } catch (error) {
    if (error instanceof RpcError) return 'unavailable';
    throw error;
  }
}

/** How much of the token a transaction moves from the merchant's wallet to the payer. */
function movedMicro({ logs }: Receipt, { tokenAddress, fromAddress, toAddress }: ExpectedRefund): bigint {
  let micro = 0n;
  for (const log of logs) {
    const transfer = log.address === tokenAddress ? transferOf(log) : null;
    if (transfer?.from === fromAddress && transfer.to === toAddress) micro += transfer.value;
  }
  return micro;
}
