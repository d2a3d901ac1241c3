import { toEventSelector } from 'viem';
import type { Header, Log } from '../rpc.ts';
import { bloomHas } from './bloom.ts';
import { ProviderFault } from './pool.ts';

/** ERC-20's `Transfer(address indexed from, address indexed to, uint256 value)`. */
export const transferTopic = toEventSelector('Transfer(address,address,uint256)').toLowerCase();

/** An address in lower case as a topic of a log. */
export const topicOf = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;

export type TransferLog = { from: string; to: string; value: bigint };

/** No token has more units. A log that says so moved nothing, and what it says could not be stored as an amount. */
const maxValue = 2n ** 128n - 1n;

/**
 * Reads a Transfer log; null when it is none of ERC-20's shape (ERC-721 has a fourth topic), or cannot be true.
 */
export function transferOf(log: Pick<Log, 'topics' | 'data'>): TransferLog | null {
  const [topic, from, to, more] = log.topics;
  if (topic !== transferTopic || !from || !to || more !== undefined || log.data.length !== 66) return null;
  const value = BigInt(log.data);
  return value > maxValue ? null : { from: `0x${from.slice(-40)}`, to: `0x${to.slice(-40)}`, value };
}

/** The wallet that a Transfer log pays; null if it moves nothing. */
export function paidBy(log: Pick<Log, 'topics' | 'data'>): string | null {
  const transfer = transferOf(log);
  return transfer && transfer.value > 0n && transfer.from !== transfer.to ? transfer.to : null;
}

/**
 * Refuses answers that do not match the question: logs of another block, token or event, or one log twice.
 *
 * @throws ProviderFault
 */
export function checkLogs(header: Header, logs: readonly Log[], tokens: readonly string[]): void {
  let last = -1;
  for (const log of logs) {
    if (log.blockHash !== header.hash || log.blockNumber !== header.number) {
      throw new ProviderFault(
        `logs of block ${log.blockNumber} ${log.blockHash} came for ${header.number} ${header.hash}`,
      );
    }
    if (!tokens.includes(log.address) || log.topics[0] !== transferTopic || log.logIndex <= last) {
      throw new ProviderFault(`block ${header.number}: the endpoint sent logs that were not asked for`);
    }
    last = log.logIndex;
  }
}

/**
 * Refuses logs that put one transaction into two blocks, since its transfers could not be stored twice.
 *
 * @throws ProviderFault
 */
export function checkOneBlockEach(logs: readonly Log[]): void {
  const blockOf = new Map<string, string>();
  for (const { txHash, blockHash } of logs) {
    if ((blockOf.get(txHash) ?? blockHash) !== blockHash) throw new ProviderFault(`${txHash} came in two blocks`);
    blockOf.set(txHash, blockHash);
  }
}

/** True when the block's bloom filter announces a transfer of a token that the answer lacks. */
export function lacksAnnounced(header: Header, logs: readonly Log[], tokens: readonly string[]): boolean {
  return tokens.some(
    (token) => !logs.some((log) => log.address === token) && bloomHas(header.logsBloom, [token, transferTopic]),
  );
}

/**
 * Checks that headers form a chain without gaps.
 *
 * @throws ProviderFault when the provider's view changed between two of them, or a number is wrong
 */
export function checkLinked(headers: readonly Header[], firstNumber: number): void {
  for (const [i, header] of headers.entries()) {
    const parent = headers[i - 1];
    if (header.number !== firstNumber + i || (parent && header.parentHash !== parent.hash)) {
      throw new ProviderFault(`block ${firstNumber + i}: the headers do not follow each other`);
    }
  }
}

/** How many blocks are requested at once, at first and at most. */
export const firstRange = 100;
export const largestRange = 2_000;

/** How many blocks to request next: half after a failure, a tenth more after a success. */
export function nextRange(range: number, worked: boolean): number {
  return worked ? Math.min(largestRange, Math.ceil(range * 1.1)) : Math.max(1, Math.floor(range / 2));
}
