import { readTransfer } from './blocks.ts';
import type { ChainConfig } from './config.ts';
import { connectRpc, type Receipt, RpcError } from './rpc.ts';

/** A transfer as it was found; addresses and hashes in lower case. */
export type TransferKey = {
  txHash: string;
  ordinal: number;
  blockHash: string;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
};

const timeoutMs = 4_000;

/**
 * Asks every configured endpoint of a chain whether a transfer stands in its block. Asked before `verified`; no
 * transaction is open meanwhile.
 *
 * @returns `agreed` when all have it; `missing` when one has it not, or otherwise; `unavailable` when one does not answer
 *   and none denies it
 */
export async function confirmTransfer(
  chain: ChainConfig,
  key: TransferKey,
): Promise<'agreed' | 'missing' | 'unavailable'> {
  const answers = await Promise.all(chain.rpcUrls.map((url) => askOne(url, key)));
  if (answers.includes('missing')) return 'missing';
  return answers.includes('unavailable') ? 'unavailable' : 'agreed';
}

async function askOne(url: string, key: TransferKey): Promise<'agreed' | 'missing' | 'unavailable'> {
  try {
    const receipt = await connectRpc(url, timeoutMs).receipt(key.txHash);
    return receipt && holds(receipt, key) ? 'agreed' : 'missing';
  } catch (error) {
    if (error instanceof RpcError) return 'unavailable';
    throw error;
  }
}

function holds(receipt: Receipt, key: TransferKey): boolean {
  const log = receipt.logs[key.ordinal];
  const transfer = log && readTransfer(log);
  return (
    receipt.success &&
    receipt.blockHash === key.blockHash &&
    log?.address === key.tokenAddress &&
    transfer?.from === key.fromAddress &&
    transfer.to === key.toAddress &&
    transfer.value === key.value
  );
}
