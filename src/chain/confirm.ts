import { readTransfer } from './blocks.ts';
import type { ChainConfig } from './config.ts';
import { connectRpc, type Receipt, type Rpc, RpcError } from './rpc.ts';

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
 * What endpoints say of a transfer. `agreed`: all have it. `missing`: one has it not, or otherwise. `unreadable`: one cannot
 * tell of it, though it answers. `unavailable`: one does not answer at all.
 */
export type Confirmation = 'agreed' | 'missing' | 'unreadable' | 'unavailable';

/** The answer that counts is the first of these that an endpoint gave. */
const strongest = ['missing', 'unavailable', 'unreadable', 'agreed'] as const;

/**
 * Asks every configured endpoint of a chain whether a transfer stands in its block. Asked before `verified`; no
 * transaction is open meanwhile.
 */
export async function confirmTransfer(chain: ChainConfig, key: TransferKey): Promise<Confirmation> {
  const answers = await Promise.all(chain.rpcUrls.map((url) => askOne(url, key)));
  return strongest.find((answer) => answers.includes(answer)) ?? 'unavailable';
}

async function askOne(url: string, key: TransferKey): Promise<Confirmation> {
  const rpc = connectRpc(url, timeoutMs);
  try {
    const receipt = await rpc.receipt(key.txHash);
    return receipt && holds(receipt, key) ? 'agreed' : 'missing';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return (await isAway(rpc, error)) ? 'unavailable' : 'unreadable';
  }
}

/** Whether an error says that the endpoint does not answer, rather than that it cannot tell of one transaction. */
async function isAway(rpc: Rpc, error: RpcError): Promise<boolean> {
  if (error.kind === 'unreachable' || error.kind === 'limited') return true;
  try {
    await rpc.chainId();
    return false;
  } catch (other) {
    if (other instanceof RpcError) return true;
    throw other;
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
