import { type Step, traced } from '../lib/trace.ts';
import {
  type BlockTag,
  type Hex,
  RpcError,
  readArray,
  readBig,
  readBytes,
  readFees,
  readHeader,
  readHex,
  readLogs,
  readNumber,
  readObject,
  readReceipt,
  readTransaction,
  toHex,
} from './rpc-answers.ts';

export {
  type BlockTag,
  type Fees,
  type Header,
  type Hex,
  type Log,
  type Receipt,
  RpcError,
  type Said,
  type Transaction,
  toHex,
} from './rpc-answers.ts';

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

/** The chain that each endpoint belongs to, for traces: its address may hold a key, so it is never told. */
const chainOfEndpoint = new Map<string, number>();

/** Tells traces which chain the calls to these endpoints are about. */
export function nameEndpoints(chains: readonly { chainId: number; rpcUrls: readonly string[] }[]): void {
  for (const { chainId, rpcUrls } of chains) for (const url of rpcUrls) chainOfEndpoint.set(url, chainId);
}

const stepOf = (url: string, method: string): Step => ({
  name: method,
  kind: 'client',
  attributes: {
    'rpc.system.name': 'jsonrpc',
    'rpc.method': method,
    'quittance.chain_id': chainOfEndpoint.get(url) ?? 0,
  },
});

/**
 * One JSON-RPC call.
 *
 * @returns the raw `result`; typed readers below check its shape
 * @throws RpcError
 */
export const callRpc = (
  url: string,
  method: string,
  params: readonly unknown[],
  timeoutMs = defaultTimeoutMs,
  maxBytes = maxResponseBytes,
): Promise<unknown> =>
  traced(
    () => stepOf(url, method),
    () => ask(url, method, params, timeoutMs, maxBytes),
  );

async function ask(
  url: string,
  method: string,
  params: readonly unknown[],
  timeoutMs: number,
  maxBytes: number,
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
  let answer: { result?: unknown; error?: { code?: number; message?: string; data?: unknown } } | null;
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
    const said = String(message).slice(0, 300);
    throw new RpcError(kind, `${where}: ${code} ${said}`, null, {
      code: typeof code === 'number' ? code : null,
      message: said,
      data: revertData(answer.error.data),
    });
  }
  if (typeof answer !== 'object' || answer === null || answer.result === undefined) {
    throw new RpcError('malformed', `${where}: status ${status} without a result`);
  }
  return answer.result;
}

/** Some providers wrap the bytes in an object. */
function revertData(data: unknown): Hex | null {
  const bytes = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data;
  return typeof bytes === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(bytes) ? (bytes.toLowerCase() as Hex) : null;
}

/** The typed calls of one provider. All throw RpcError; every answer's shape is checked. */
export type Rpc = ReturnType<typeof connectRpc>;

/** Typed calls to one provider; no connection is opened before the first call. */
export function connectRpc(url: string, timeoutMs = defaultTimeoutMs) {
  const call = (method: string, params: readonly unknown[], maxBytes?: number) =>
    callRpc(url, method, params, timeoutMs, maxBytes);
  const callContract = async (transaction: object, block: 'latest' | 'pending' = 'latest') =>
    readHex(await callRpc(url, 'eth_call', [transaction, block], timeoutMs, maxAnswerBytes), 'call result');
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
    balance: async (address: string) => readBig(await call('eth_getBalance', [address, 'latest']), 'balance'),
    /** How much gas a call would use; a call that would revert is refused. */
    estimateGas: async (transaction: { from: Hex; to: Hex; data: Hex }) =>
      readBig(await call('eth_estimateGas', [transaction], maxAnswerBytes), 'gas'),
    /** What gas cost in the newest blocks. */
    feeHistory: async (blocks: number) =>
      readFees(await call('eth_feeHistory', [toHex(blocks), 'latest', [50]], maxAnswerBytes)),
    /** What the provider advises to offer beyond the base fee. */
    advisedPriorityFee: async () => readBig(await call('eth_maxPriorityFeePerGas', [], maxAnswerBytes), 'priority fee'),
    /** Hands on a signed transaction; the hash in the answer proves nothing. */
    sendRaw: async (signed: Hex) => {
      await call('eth_sendRawTransaction', [signed], maxAnswerBytes);
    },
    code: async (address: string) => readHex(await call('eth_getCode', [address, 'latest']), 'code'),
    call: async (to: string, data: string, block?: 'latest' | 'pending') => callContract({ to, data }, block),
    /** Executes code named by a stranger; without `to`, as a deployment. */
    tryCall: async (transaction: { from: Hex; to?: string; data: Hex; gas: Hex }) => callContract(transaction),
  };
}
