import { makeStorable } from '../lib/text/storable.ts';

/**
 * A failure of one call to one provider. `kind` classifies it. Only the host of the provider's address is kept, and its
 * message is made storable.
 */
export class RpcError extends Error {
  readonly kind: 'unreachable' | 'timeout' | 'limited' | 'too_large' | 'malformed' | 'refused';
  /** With `limited`: how long the provider tells us to wait. */
  readonly retryAfterMs: number | null;
  /** With `refused`: the provider's own message. */
  readonly reported: ReportedError | null;
  constructor(
    kind: RpcError['kind'],
    message: string,
    retryAfterMs: number | null = null,
    reported: ReportedError | null = null,
  ) {
    super(makeStorable(message));
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.reported = reported && { ...reported, message: makeStorable(reported.message) };
  }
}

/** A JSON-RPC error; `data` is what a contract reverted with, if the provider passes it on. */
export type ReportedError = { code: number | null; message: string; data: Hex | null };

export type Hex = `0x${string}`;
export type Header = {
  number: number;
  hash: string;
  parentHash: string;
  time: Date;
  logsBloom: string;
  /** How many transactions the block has. This is not verified, so it only decides how to ask. */
  transactionCount: number;
};
export type Log = {
  address: string;
  topics: string[];
  data: string;
  blockHash: string;
  blockNumber: number;
  txHash: string;
  logIndex: number;
};
export type Transaction = {
  hash: string;
  from: string;
  nonce: number;
  to: string | null;
  input: string;
  /** Null while it is not mined. */
  blockHash: string | null;
};
export type Receipt = {
  txHash: string;
  blockHash: string;
  blockNumber: number;
  success: boolean;
  /** The fee that the sender paid, including what a rollup adds for its own chain. */
  feeWei: bigint;
  logs: Log[];
};
/** The base fee of the next block, the usual priority fees of the newest ones, and the newest block's number. */
export type Fees = { baseFeeWei: bigint; priorityFeesWei: bigint[]; head: number };
export type BlockTag = 'latest' | 'safe' | 'finalized';

export const toHex = (value: number | bigint): Hex => `0x${value.toString(16)}`;

/** A later time cannot be true, and the database could not store it. */
const latestSeconds = Date.UTC(9999, 11, 31) / 1000;
const maxLogs = 2 ** 31 - 1;

function malformed(what: string): RpcError {
  return new RpcError('malformed', `the provider's answer has no valid ${what}`);
}

// What follows reads parts of answers. `what` names the part in the error, an RpcError of the kind `malformed`. Hex
// comes in lower case.

export function readHex(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) throw malformed(what);
  return value.toLowerCase();
}

export function readBytes(value: unknown, length: number, what: string): string {
  const hex = readHex(value, what);
  if (hex.length !== 2 + 2 * length) throw malformed(what);
  return hex;
}

export function readNumber(value: unknown, what: string, max = Number.MAX_SAFE_INTEGER): number {
  const number = Number(readHex(value, what));
  if (!Number.isSafeInteger(number) || number > max || value === '0x') throw malformed(what);
  return number;
}

export function readBig(value: unknown, what: string): bigint {
  const hex = readHex(value, what);
  if (hex === '0x' || hex.length > 66) throw malformed(what);
  return BigInt(hex);
}

/** Every transaction uses this much. */
const leastGas = 21_000n;

/** How much gas a call would use; a call that is sent with less than the least would be refused by every node. */
export function readGas(value: unknown): bigint {
  const gas = readBig(value, 'gas');
  if (gas < leastGas) throw malformed('gas');
  return gas;
}

/** Zero if a provider does not report it, or not in hex: a receipt counts without it. */
function readFee({ gasUsed, effectiveGasPrice, l1Fee }: Record<string, unknown>): bigint {
  const part = (value: unknown) =>
    typeof value === 'string' && /^0x[0-9a-f]{1,32}$/i.test(value) ? BigInt(value) : 0n;
  return part(gasUsed) * part(effectiveGasPrice) + part(l1Fee);
}

export function readFees(value: unknown): Fees {
  const fees = readObject(value, 'fees');
  const base = readArray(fees.baseFeePerGas, 'base fees').map((fee) => readBig(fee, 'base fee'));
  const rewards = readArray(fees.reward ?? [], 'priority fees').map((row) => readArray(row, 'priority fees')[0]);
  const next = base.at(-1);
  if (next === undefined) throw malformed('base fees');
  return {
    baseFeeWei: next,
    priorityFeesWei: rewards.map((fee) => readBig(fee, 'priority fee')),
    // The answer's last entry is the block after the newest one.
    head: readNumber(fees.oldestBlock, 'oldest block') + base.length - 2,
  };
}

export function readArray(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw malformed(what);
  return value;
}

export function readObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw malformed(what);
  return value as Record<string, unknown>;
}

export function readHeader(value: unknown): Header | null {
  if (value === null) return null;
  const block = readObject(value, 'block');
  return {
    number: readNumber(block.number, 'block number'),
    hash: readBytes(block.hash, 32, 'block hash'),
    parentHash: readBytes(block.parentHash, 32, 'parent hash'),
    time: new Date(readNumber(block.timestamp, 'timestamp', latestSeconds) * 1000),
    logsBloom: readBytes(block.logsBloom, 256, 'bloom filter'),
    transactionCount: Array.isArray(block.transactions) ? block.transactions.length : 0,
  };
}

/** Logs in the order of the chain. A provider's "removed" logs belong to no block and are omitted. */
export function readLogs(value: unknown): Log[] {
  return readArray(value, 'logs')
    .map((entry) => readObject(entry, 'log'))
    .filter((log) => log.removed !== true)
    .map(readLog)
    .sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

function readLog(log: Record<string, unknown>): Log {
  return {
    address: readBytes(log.address, 20, 'log address'),
    topics: readArray(log.topics, 'topics').map((topic) => readBytes(topic, 32, 'topic')),
    data: readHex(log.data, 'log data'),
    blockHash: readBytes(log.blockHash, 32, 'block hash'),
    blockNumber: readNumber(log.blockNumber, 'block number'),
    txHash: readBytes(log.transactionHash, 32, 'transaction hash'),
    logIndex: readNumber(log.logIndex, 'log index', maxLogs),
  };
}

export function readTransaction(value: unknown): Transaction | null {
  if (value === null) return null;
  const tx = readObject(value, 'transaction');
  return {
    hash: readBytes(tx.hash, 32, 'transaction hash'),
    from: readBytes(tx.from, 20, 'sender'),
    nonce: readNumber(tx.nonce, 'nonce'),
    to: tx.to == null ? null : readBytes(tx.to, 20, 'recipient'),
    input: readHex(tx.input, 'calldata'),
    blockHash: tx.blockHash == null ? null : readBytes(tx.blockHash, 32, 'block hash'),
  };
}

export function readReceipt(value: unknown): Receipt {
  const receipt = readObject(value, 'receipt');
  return {
    txHash: readBytes(receipt.transactionHash, 32, 'transaction hash'),
    blockHash: readBytes(receipt.blockHash, 32, 'block hash'),
    blockNumber: readNumber(receipt.blockNumber, 'block number'),
    success: readNumber(receipt.status, 'status') === 1,
    feeWei: readFee(receipt),
    logs: readLogs(receipt.logs),
  };
}
