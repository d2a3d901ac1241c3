import {
  type BlockTag,
  type Header,
  type Hex,
  type Receipt,
  RpcError,
  readArray,
  readBig,
  readBytes,
  readFees,
  readGas,
  readHeader,
  readHex,
  readLogs,
  readNumber,
  readObject,
  readReceipt,
  readTransaction,
  type Transaction,
  toHex,
} from './rpc-answers.ts';
import { type BatchAnswer, callBatch, callRpc, defaultTimeoutMs } from './rpc-call.ts';

export {
  type Header,
  type Hex,
  type Log,
  type Receipt,
  RpcError,
  type Transaction,
  toHex,
} from './rpc-answers.ts';
export { callRpc, nameEndpoints } from './rpc-call.ts';

/** A contract answers with a few words, or with a revert that may quote the call; more is `too_large`. */
const maxAnswerBytes = 64 * 1024;
/** The limit for one transaction or its receipt (several are read at once), and for one message of several calls. */
const maxTransactionBytes = 8 * 1024 * 1024;

/**
 * Whether a failure means that the provider does not answer at all, rather than that it cannot report one transaction.
 * It gets the simplest question, because some drop the connection, or claim too many calls, when one answer is too
 * large.
 */
export async function isProviderDown(rpc: Rpc): Promise<boolean> {
  try {
    await rpc.chainId();
    return false;
  } catch (error) {
    if (error instanceof RpcError) return true;
    throw error;
  }
}

/** For `catch`: null for a failed call to a provider; rethrows everything else. */
export function nullOfRpc(error: unknown): null {
  if (error instanceof RpcError) return null;
  throw error;
}

/** A provider's answers about several things at once. */
export type Fetched = {
  transactions: Map<string, Transaction>;
  receipts: Map<string, Receipt>;
  headers: Map<number, Header>;
};

function readEach<K, T>(
  keys: readonly K[],
  answers: readonly BatchAnswer[],
  read: (result: unknown) => T | null,
): Map<K, T> {
  const results = new Map<K, T>();
  for (const [i, key] of keys.entries()) {
    const answer = answers[i];
    if (!answer || 'error' in answer || answer.result === null) continue;
    try {
      const value = read(answer.result);
      if (value !== null) results.set(key, value);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return results;
}

/** Transactions by hash, in lower case: only answers about these are read and checked. Null: all of them. */
export type TransactionFilter = { has(txHash: string): boolean } | null;

/** The entries of a block's list that are about wanted transactions. */
function entriesOf(list: unknown, of: TransactionFilter, name: 'hash' | 'transactionHash', what: string): unknown[] {
  const all = readArray(list, what);
  if (!of) return all;
  return all.filter((one) => {
    const hash = (one as Record<string, unknown> | null)?.[name];
    return typeof hash === 'string' && of.has(hash.toLowerCase());
  });
}

function readFullBlock(value: unknown, of: TransactionFilter) {
  const header = readHeader(value);
  if (!header) return null;
  const transactions = entriesOf(readObject(value, 'block').transactions, of, 'hash', 'transactions');
  return { header, transactions: transactions.flatMap((one) => readTransaction(one) ?? []) };
}

/** The typed calls of one provider. All throw RpcError; every answer's shape is checked. */
export type Rpc = ReturnType<typeof connectRpc>;

/** Typed calls to one provider; no connection is opened before the first call. */
export function connectRpc(url: string, timeoutMs = defaultTimeoutMs) {
  const call: Call = (method, params, maxBytes) => callRpc(url, method, params, timeoutMs, maxBytes);
  const callAll: CallAll = (calls, maxBytes) => callBatch(url, calls, timeoutMs, maxBytes);
  return {
    url,
    host: new URL(url).host,
    chainId: async () => readNumber(await call('eth_chainId', []), 'chain id'),
    ...blockCalls(call),
    ...logCalls(call),
    ...transactionCalls(call, callAll),
    ...accountCalls(call),
    ...sendingCalls(call, callAll),
  };
}

type Call = (method: string, params: readonly unknown[], maxBytes?: number) => Promise<unknown>;
/** Several calls in one message. */
type CallAll = (calls: { method: string; params: readonly unknown[] }[], maxBytes: number) => Promise<BatchAnswer[]>;

const blockCalls = (call: Call) => ({
  /** The header of a block by number or tag; null when the provider does not have it. */
  header: async (block: number | BlockTag) =>
    readHeader(await call('eth_getBlockByNumber', [typeof block === 'number' ? toHex(block) : block, false])),
  /** All receipts of a block, or those of some transactions; null when the provider does not have the block. */
  blockReceipts: async (blockHash: string, of: TransactionFilter = null, maxBytes?: number) => {
    const result = await call('eth_getBlockReceipts', [blockHash], maxBytes);
    return result === null ? null : entriesOf(result, of, 'transactionHash', 'receipts').map(readReceipt);
  },
  /** The hashes of a block's transactions, in order; null when the provider does not have the block. */
  transactionHashes: async (blockHash: string) => {
    const result = await call('eth_getBlockByHash', [blockHash, false]);
    if (result === null) return null;
    return readArray(readObject(result, 'block').transactions, 'transactions').map((hash) =>
      readBytes(hash, 32, 'transaction hash'),
    );
  },
  /** The header of a block with all its transactions, or some; null when the provider does not have it. */
  fullBlock: async (number: number, of: TransactionFilter = null, maxBytes?: number) =>
    readFullBlock(await call('eth_getBlockByNumber', [toHex(number), true], maxBytes), of),
});

const logCalls = (call: Call) => ({
  /** `topics` as in eth_getLogs: null for any, a list for any of these. */
  logsOfBlock: async (
    blockHash: string,
    addresses: readonly string[],
    ...topics: (string | readonly string[] | null)[]
  ) => readLogs(await call('eth_getLogs', [{ blockHash, address: addresses, topics }])),
  logsOfRange: async (from: number, to: number, addresses: readonly string[], topic: string) =>
    readLogs(
      await call('eth_getLogs', [{ fromBlock: toHex(from), toBlock: toHex(to), address: addresses, topics: [topic] }]),
    ),
  /** Logs of all contracts in a range of blocks: `topics` as in eth_getLogs, null for any. */
  logsOfTopics: async (from: number, to: number, topics: readonly (string | null)[]) =>
    readLogs(await call('eth_getLogs', [{ fromBlock: toHex(from), toBlock: toHex(to), topics }])),
});

const transactionCalls = (call: Call, callAll: CallAll) => ({
  transaction: async (hash: string) =>
    readTransaction(await call('eth_getTransactionByHash', [hash], maxTransactionBytes)),
  receipt: async (hash: string) => {
    const result = await call('eth_getTransactionReceipt', [hash], maxTransactionBytes);
    return result === null ? null : readReceipt(result);
  },
  /**
   * Transactions and receipts by hash, and headers by number, in one message; each in the form of its single call.
   * Missing are those with no answer, a bad one or an empty one.
   */
  together: async (wanted: { transactions: string[]; receipts: string[]; headers: number[] }): Promise<Fetched> => {
    const { transactions, receipts, headers } = wanted;
    const answers = await callAll(
      [
        ...transactions.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
        ...receipts.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
        ...headers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toHex(number), false] })),
      ],
      maxTransactionBytes,
    );
    const rest = answers.slice(transactions.length);
    return {
      transactions: readEach(transactions, answers, readTransaction),
      receipts: readEach(receipts, rest, readReceipt),
      headers: readEach(headers, rest.slice(receipts.length), readHeader),
    };
  },
});

const accountCalls = (call: Call) => {
  const callContract = async (transaction: object, block: 'latest' | 'pending' = 'latest') =>
    readHex(await call('eth_call', [transaction, block], maxAnswerBytes), 'call result');
  return {
    /** How many transactions an account has sent, up to a block. */
    nonceAt: async (address: string, block: number | 'latest') =>
      readNumber(
        await call('eth_getTransactionCount', [address, typeof block === 'number' ? toHex(block) : block]),
        'transaction count',
      ),
    balance: async (address: string) => readBig(await call('eth_getBalance', [address, 'latest']), 'balance'),
    code: async (address: string) => readHex(await call('eth_getCode', [address, 'latest']), 'code'),
    call: async (to: string, data: string, block?: 'latest' | 'pending') => callContract({ to, data }, block),
    /** Executes code named by a stranger; without `to`, as a deployment. */
    tryCall: async (transaction: { from: Hex; to?: string; data: Hex; gas: Hex }) => callContract(transaction),
  };
};

/** What sending a transaction needs: gas, its price, and the sending itself. */
const sendingCalls = (call: Call, callAll: CallAll) => ({
  /** How much gas a call would use; a call that would revert is refused. */
  estimateGas: async (transaction: { from: Hex; to: Hex; data: Hex }) =>
    readGas(await call('eth_estimateGas', [transaction], maxAnswerBytes)),
  /**
   * As `estimateGas`, for several calls in one message. Null if the answer does not say that a call succeeds: alone it
   * may succeed, or get a reason.
   */
  estimateGasTogether: async (transactions: readonly { from: Hex; to: Hex; data: Hex }[]) => {
    const calls = transactions.map((one) => ({ method: 'eth_estimateGas', params: [one] }));
    const places = transactions.map((_, i) => i);
    const answers = await callAll(calls, maxAnswerBytes);
    const results = readEach(places, answers, readGas);
    return places.map((place) => results.get(place) ?? null);
  },
  /** The price of gas in the newest blocks. */
  feeHistory: async (blocks: number) =>
    readFees(await call('eth_feeHistory', [toHex(blocks), 'latest', [50]], maxAnswerBytes)),
  /** The priority fee that the provider advises. */
  advisedPriorityFee: async () => readBig(await call('eth_maxPriorityFeePerGas', [], maxAnswerBytes), 'priority fee'),
  /** Sends a signed transaction; the hash in the answer proves nothing. */
  sendRaw: async (signed: Hex) => {
    await call('eth_sendRawTransaction', [signed], maxAnswerBytes);
  },
  /**
   * As `sendRaw`, for several transactions in one message. False if one was not taken: alone it may be taken, or get a
   * reason.
   */
  sendRawTogether: async (signed: readonly Hex[]) => {
    const calls = signed.map((one) => ({ method: 'eth_sendRawTransaction', params: [one] }));
    return (await callAll(calls, maxAnswerBytes)).map((answer) => 'result' in answer);
  },
});
