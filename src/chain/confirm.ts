import type { ChainConfig } from '../config/chains.ts';
import { transferTopic } from './reader/blocks.ts';
import { isConfirmed, isSameBlock, isSameLog } from './reader/evidence.ts';
import { connectRpc, isAway, type Rpc, RpcError } from './rpc.ts';

/** A transfer as it was found; addresses and hashes in lower case. */
export type TransferKey = {
  txHash: string;
  ordinal: number;
  blockNumber: number;
  /** Null where it was not kept. */
  logIndex: number | null;
  blockHash: string;
  blockTime: Date;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
  /** What its calldata was read to say, 16 bytes in hex or nothing, where that decided whom it pays; null where it did not. */
  calldata: { reference: string | null } | null;
};

const timeoutMs = 4_000;

/**
 * What endpoints say of a transfer. `agreed`: all have it. `absent`: all have its block, and none has it there. `altered`: all
 * have it, and read its calldata otherwise. `missing`: one has it not, or otherwise. `unreadable`: one cannot tell of it, though
 * it answers. `unavailable`: one does not answer at all.
 */
export type Confirmation = 'agreed' | 'absent' | 'altered' | 'missing' | 'unreadable' | 'unavailable';

/** Where endpoints differ, the answer that counts is the first of these that one gave. */
const strongest = ['absent', 'altered', 'missing', 'unavailable', 'unreadable'] as const;

/**
 * Asks every configured endpoint of a chain whether a transfer stands in its block, with what applied it. Asked before `verified`; no
 * transaction is open meanwhile.
 */
export async function confirmTransfer(chain: ChainConfig, key: TransferKey): Promise<Confirmation> {
  const answers = await Promise.all(chain.rpcUrls.map((url) => askOne(url, key, chain)));
  const [first = 'unavailable'] = answers;
  if (answers.every((answer) => answer === first)) return first;
  const one = strongest.find((answer) => answers.includes(answer)) ?? 'unavailable';
  return one === 'absent' || one === 'altered' ? 'missing' : one;
}

async function askOne(url: string, key: TransferKey, chain: ChainConfig): Promise<Confirmation> {
  const rpc = connectRpc(url, timeoutMs);
  try {
    const [receipt, header, transaction] = await Promise.all([
      rpc.receipt(key.txHash),
      rpc.header(key.blockNumber),
      rpc.transaction(key.txHash),
    ]);
    const tokens = chain.tokens.map(({ address }) => address);
    const confirms = (what: TransferKey) =>
      receipt && header && transaction && isConfirmed({ receipt, header, transaction }, what, tokens);
    if (confirms(key)) return 'agreed';
    if (header?.hash !== key.blockHash || (receipt && receipt.blockHash !== key.blockHash)) return 'missing';
    if (!receipt?.logs.some((log) => isSameLog(log, key))) return 'absent';
    return confirms({ ...key, calldata: null }) ? 'altered' : 'missing';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (await isAway(rpc)) return 'unavailable';
    return askWithoutReceipt(rpc, key);
  }
}

/**
 * What an endpoint tells of a transfer whose receipt it cannot tell: the log alone, and that its block is on the chain. Where
 * bytes of its calldata decided whom it pays, that is not enough.
 */
async function askWithoutReceipt(rpc: Rpc, key: TransferKey): Promise<Confirmation> {
  if (key.logIndex === null || key.calldata?.reference) return 'unreadable';
  try {
    const topics = [key.fromAddress, key.toAddress].map((address) => `0x${address.slice(2).padStart(64, '0')}`);
    const logs = await rpc.logsOfBlock(key.blockHash, [key.tokenAddress], transferTopic, ...topics);
    const log = logs.find(({ logIndex, txHash }) => logIndex === key.logIndex && txHash === key.txHash);
    if (!log || !isSameLog(log, key)) return 'missing';
    const header = await rpc.header(key.blockNumber);
    return header && isSameBlock(header, key) ? 'agreed' : 'missing';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return (await isAway(rpc)) ? 'unavailable' : 'unreadable';
  }
}
