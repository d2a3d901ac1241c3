/** A failure of one call to one provider. `kind` classifies it. Of the provider's address only the host is kept. */
export class RpcError extends Error {
  readonly kind: 'unreachable' | 'timeout' | 'limited' | 'too_large' | 'malformed' | 'refused';
  /** With `limited`: how long the provider asks us to wait. */
  readonly retryAfterMs: number | null;
  constructor(kind: RpcError['kind'], message: string, retryAfterMs: number | null = null) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

export type Hex = `0x${string}`;
export type Header = { number: number; hash: string; parentHash: string; time: Date; logsBloom: string };
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
export type Receipt = { txHash: string; blockHash: string; blockNumber: number; success: boolean; logs: Log[] };
export type BlockTag = 'latest' | 'safe' | 'finalized';

const defaultTimeoutMs = 5_000;
/** No honest answer to our calls comes near this size; a range of logs that does is requested in smaller ranges. */
const maxResponseBytes = 32 * 1024 * 1024;
/** A contract answers with a few words, or with a revert that may quote the call; more is `too_large`. */
const maxAnswerBytes = 64 * 1024;
/** One transaction and its receipt: several are read at once. */
const maxTransactionBytes = 8 * 1024 * 1024;

/**
 * Whether a failure means that the provider does not answer at all, rather than that it cannot report one transaction.
 * It is asked for the simplest thing: some drop the connection, or claim too many calls, when one answer is too large.
 */
export async function isAway(rpc: Rpc): Promise<boolean> {
  try {
    await rpc.chainId();
    return false;
  } catch (error) {
    if (error instanceof RpcError) return true;
    throw error;
  }
}

let nextId = 1;

/**
 * One JSON-RPC call.
 *
 * @returns the raw `result`; typed readers below check its shape
 * @throws RpcError
 */
export async function callRpc(
  url: string,
  method: string,
  params: readonly unknown[],
  timeoutMs = defaultTimeoutMs,
  maxBytes = maxResponseBytes,
): Promise<unknown> {
  const target = new URL(url);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (target.username) {
    const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    target.username = '';
    target.password = '';
  }
  const where = `${method} at ${target.host}`;
  const body = JSON.stringify({ jsonrpc: '2.0', id: nextId++, method, params });
  let status: number;
  let text: string;
  let retryAfter: string | null;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(target, { method: 'POST', headers, body, redirect: 'error', signal });
    status = response.status;
    retryAfter = response.headers.get('retry-after');
    text = await readBody(response, where, maxBytes);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    if ((error as Error).name === 'TimeoutError')
      throw new RpcError('timeout', `${where}: no answer in ${timeoutMs} ms`);
    throw new RpcError('unreachable', `${where}: ${reasonOf(error)}`);
  }
  return readAnswer(text, status, retryAfter, where);
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

async function readBody(response: Response, where: string, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RpcError('too_large', `${where}: more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(text: string, status: number, retryAfter: string | null, where: string): unknown {
  if (status === 429) {
    const seconds = Number(retryAfter);
    throw new RpcError('limited', `${where}: too many calls`, seconds > 0 ? Math.min(seconds, 60) * 1000 : null);
  }
  let answer: { result?: unknown; error?: { code?: number; message?: string } } | null;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new RpcError('malformed', `${where}: status ${status} without JSON`);
  }
  if (answer?.error) {
    const { code, message } = answer.error;
    // -32005 means "limit exceeded": the number of calls at some providers, the size of the answer at others.
    const tooMany = code === 429 || (code === -32005 && /rate|per second|too many requests/i.test(String(message)));
    const kind = tooMany ? 'limited' : 'refused';
    throw new RpcError(kind, `${where}: ${code} ${String(message).slice(0, 300)}`);
  }
  if (typeof answer !== 'object' || answer === null || answer.result === undefined) {
    throw new RpcError('malformed', `${where}: status ${status} without a result`);
  }
  return answer.result;
}

/** The typed calls of one provider. All throw RpcError; every answer's shape is checked. */
export type Rpc = ReturnType<typeof connectRpc>;

/** Typed calls to one provider; no connection is opened before the first call. */
export function connectRpc(url: string, timeoutMs = defaultTimeoutMs) {
  const call = (method: string, params: readonly unknown[], maxBytes?: number) =>
    callRpc(url, method, params, timeoutMs, maxBytes);
  const callContract = async (transaction: object) =>
    readHex(await callRpc(url, 'eth_call', [transaction, 'latest'], timeoutMs, maxAnswerBytes), 'call result');
  return {
    url,
    host: new URL(url).host,
    chainId: async () => readNumber(await call('eth_chainId', []), 'chain id'),
    /** The header of a block by number or tag; null when the provider does not have it. */
    header: async (block: number | BlockTag) =>
      readHeader(await call('eth_getBlockByNumber', [typeof block === 'number' ? toHex(block) : block, false])),
    /** `topics` as in eth_getLogs: null for any, a list for any of these. */
    logsOfBlock: async (
      blockHash: string,
      addresses: readonly string[],
      ...topics: (string | readonly string[] | null)[]
    ) => readLogs(await call('eth_getLogs', [{ blockHash, address: addresses, topics }])),
    logsOfRange: async (from: number, to: number, addresses: readonly string[], topic: string) =>
      readLogs(
        await call('eth_getLogs', [
          { fromBlock: toHex(from), toBlock: toHex(to), address: addresses, topics: [topic] },
        ]),
      ),
    /** The same for all contracts: `topics` as in eth_getLogs, null for any. */
    logsOfTopics: async (from: number, to: number, topics: readonly (string | null)[]) =>
      readLogs(await call('eth_getLogs', [{ fromBlock: toHex(from), toBlock: toHex(to), topics }])),
    transaction: async (hash: string) =>
      readTransaction(await call('eth_getTransactionByHash', [hash], maxTransactionBytes)),
    receipt: async (hash: string) => {
      const result = await call('eth_getTransactionReceipt', [hash], maxTransactionBytes);
      return result === null ? null : readReceipt(result);
    },
    /** All receipts of a block; null when the provider does not have the block. */
    blockReceipts: async (blockHash: string) => {
      const result = await call('eth_getBlockReceipts', [blockHash]);
      return result === null ? null : readArray(result, 'receipts').map(readReceipt);
    },
    /** The hashes of a block's transactions, in order; null when the provider does not have the block. */
    transactionHashes: async (blockHash: string) => {
      const result = await call('eth_getBlockByHash', [blockHash, false]);
      if (result === null) return null;
      return readArray(readObject(result, 'block').transactions, 'transactions').map((hash) =>
        readBytes(hash, 32, 'transaction hash'),
      );
    },
    /** All transactions of a block; null when the provider does not have it. */
    blockTransactions: async (number: number) => {
      const result = await call('eth_getBlockByNumber', [toHex(number), true]);
      if (result === null) return null;
      return readArray(readObject(result, 'block').transactions, 'transactions').flatMap(
        (tx) => readTransaction(tx) ?? [],
      );
    },
    /** How many transactions an account has sent, up to a block. */
    nonceAt: async (address: string, block: number | 'latest') =>
      readNumber(
        await call('eth_getTransactionCount', [address, typeof block === 'number' ? toHex(block) : block]),
        'transaction count',
      ),
    code: async (address: string) => readHex(await call('eth_getCode', [address, 'latest']), 'code'),
    call: async (to: string, data: string) => callContract({ to, data }),
    /** Executes code named by a stranger; without `to`, as a deployment. */
    tryCall: async (transaction: { from: Hex; to?: string; data: Hex; gas: Hex }) => callContract(transaction),
  };
}

export const toHex = (value: number | bigint): Hex => `0x${value.toString(16)}`;

function malformed(what: string): RpcError {
  return new RpcError('malformed', `the provider's answer has no valid ${what}`);
}

function readHex(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) throw malformed(what);
  return value.toLowerCase();
}

function readBytes(value: unknown, length: number, what: string): string {
  const hex = readHex(value, what);
  if (hex.length !== 2 + 2 * length) throw malformed(what);
  return hex;
}

function readNumber(value: unknown, what: string): number {
  const number = Number(readHex(value, what));
  if (!Number.isSafeInteger(number) || value === '0x') throw malformed(what);
  return number;
}

function readArray(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw malformed(what);
  return value;
}

function readObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw malformed(what);
  return value as Record<string, unknown>;
}

function readHeader(value: unknown): Header | null {
  if (value === null) return null;
  const block = readObject(value, 'block');
  return {
    number: readNumber(block.number, 'block number'),
    hash: readBytes(block.hash, 32, 'block hash'),
    parentHash: readBytes(block.parentHash, 32, 'parent hash'),
    time: new Date(readNumber(block.timestamp, 'timestamp') * 1000),
    logsBloom: readBytes(block.logsBloom, 256, 'bloom filter'),
  };
}

/** Logs in the order of the chain. A provider's "removed" logs belong to no block and are omitted. */
function readLogs(value: unknown): Log[] {
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
    logIndex: readNumber(log.logIndex, 'log index'),
  };
}

function readTransaction(value: unknown): Transaction | null {
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

function readReceipt(value: unknown): Receipt {
  const receipt = readObject(value, 'receipt');
  return {
    txHash: readBytes(receipt.transactionHash, 32, 'transaction hash'),
    blockHash: readBytes(receipt.blockHash, 32, 'block hash'),
    blockNumber: readNumber(receipt.blockNumber, 'block number'),
    success: readNumber(receipt.status, 'status') === 1,
    logs: readLogs(receipt.logs),
  };
}
