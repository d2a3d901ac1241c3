import type { ChainConfig } from '../config/chains.ts';
import { prefetch } from './prefetch.ts';
import type { Bindings } from './reader/bindings.ts';
import { topicOf, transferTopic } from './reader/blocks.ts';
import { confirmsTransfer, isSameBlock, isSameLog } from './reader/evidence.ts';
import { connectRpc, isProviderDown, type Rpc, RpcError } from './rpc.ts';

/** A transfer as it was found; addresses and hashes in lower case. */
export type SeenTransfer = {
  txHash: string;
  ordinal: number;
  blockNumber: number;
  /** Null if it was not stored. */
  logIndex: number | null;
  blockHash: string;
  blockTime: Date;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
  /**
   * The 16 bytes in hex (or none) that were read from its calldata, if they decided which request it pays; otherwise
   * null.
   */
  calldata: { reference: string | null } | null;
  /** What other logs of its transaction said it was made for; null if they did not decide. */
  bindings: Bindings | null;
};

const timeoutMs = 4_000;

/**
 * What endpoints report about a transfer. `agreed`: all have it. `absent`: all have its block, and none has it there.
 * `altered`: all have it, but report different calldata or another block time. `missing`: one does not have it, or has
 * it differently. `unreadable`: one answers but cannot report it. `unavailable`: one does not answer at all.
 */
export type Confirmation = 'agreed' | 'absent' | 'altered' | 'missing' | 'unreadable' | 'unavailable';

/** If endpoints differ, the first result in this list that any of them gave counts. */
const strongest = ['absent', 'altered', 'missing', 'unavailable', 'unreadable'] as const;

/**
 * Asks every configured endpoint of a chain whether a transfer is in its block, with the evidence by which it was
 * applied. Called before `verified`; no database transaction is open meanwhile.
 *
 * @param endpoints as `prefetchFromAll` has prepared them
 */
export async function confirmTransfer(
  chain: ChainConfig,
  key: SeenTransfer,
  endpoints = endpointsOf(chain),
): Promise<Confirmation> {
  const answers = await Promise.all(endpoints.map((rpc) => queryOne(rpc, key, chain)));
  const [first = 'unavailable'] = answers;
  if (answers.every((answer) => answer === first)) return first;
  const one = strongest.find((answer) => answers.includes(answer)) ?? 'unavailable';
  return one === 'absent' || one === 'altered' ? 'missing' : one;
}

const endpointsOf = (chain: ChainConfig) => chain.rpcUrls.map((url) => connectRpc(url, timeoutMs));

/**
 * The endpoints of a chain, each prepared with the data that confirming these transfers needs.
 *
 * @param limitMs how long one message may take
 */
export function prefetchFromAll(chain: ChainConfig, keys: readonly SeenTransfer[], limitMs: number): Promise<Rpc[]> {
  return Promise.all(endpointsOf(chain).map((rpc) => prefetch(rpc, keys, limitMs)));
}

async function queryOne(rpc: Rpc, key: SeenTransfer, chain: ChainConfig): Promise<Confirmation> {
  try {
    const [receipt, header, transaction] = await Promise.all([
      rpc.receipt(key.txHash),
      rpc.header(key.blockNumber),
      rpc.transaction(key.txHash),
    ]);
    const confirms = (what: SeenTransfer) =>
      receipt && header && transaction && confirmsTransfer({ receipt, header, transaction }, what, chain);
    if (confirms(key)) return 'agreed';
    if (header?.hash !== key.blockHash || (receipt && receipt.blockHash !== key.blockHash)) return 'missing';
    if (!receipt?.logs.some((log) => isSameLog(log, key))) return 'absent';
    const withReportedTime = { ...key, calldata: null, bindings: null, blockTime: header.time };
    return confirms(withReportedTime) ? 'altered' : 'missing';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (await isProviderDown(rpc)) return 'unavailable';
    return queryWithoutReceipt(rpc, key);
  }
}

/**
 * What an endpoint reports about a transfer whose receipt it cannot return: only the log, and that its block is on the
 * chain. If bytes of the calldata or another log decided which request it pays, that is not enough.
 */
async function queryWithoutReceipt(rpc: Rpc, key: SeenTransfer): Promise<Confirmation> {
  const { calldata, bindings } = key;
  if (calldata?.reference || bindings?.authorizationNonce || bindings?.chargedReference) return 'unreadable';
  if (key.logIndex === null) return 'unreadable';
  try {
    const [from, to] = [topicOf(key.fromAddress), topicOf(key.toAddress)];
    const logs = await rpc.logsOfBlock(key.blockHash, [key.tokenAddress], transferTopic, from, to);
    const log = logs.find(({ logIndex, txHash }) => logIndex === key.logIndex && txHash === key.txHash);
    if (!log || !isSameLog(log, key)) return 'missing';
    const header = await rpc.header(key.blockNumber);
    return header && isSameBlock(header, key) ? 'agreed' : 'missing';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return (await isProviderDown(rpc)) ? 'unavailable' : 'unreadable';
  }
}
