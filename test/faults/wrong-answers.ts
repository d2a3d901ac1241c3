import { toHex } from '../../src/chain/rpc.ts';
import { pause } from '../../src/lib/time.ts';
import type { Lie } from '../support/chain/fake-provider.ts';
import type { FaultKind } from './steps.ts';

/** What an endpoint can do wrong, by the fault's name. */
type Wrong = Extract<FaultKind, `rpc-${string}` | `lie-${string}`>;

const lagBlocks = 6n;
/** More than a caller ever waits. */
const lateMs = 6_000;
const giantBytes = 33 * 1024 * 1024;
let giant: string | null = null;

/** Answers about one transaction in four differently, always about the same ones. */
const aboutSome =
  (answer: object): Lie =>
  async ({ method, params }) =>
    method === 'eth_getTransactionReceipt' && /[048c]$/.test(String(params[0])) ? answer : null;

/** Shuffles and repeats the entries of ordered answers. */
const shuffled: Lie = async ({ method, params, ask }) => {
  if (method !== 'eth_getLogs' && method !== 'eth_getBlockReceipts') return null;
  const answer = (await ask(method, params)) as unknown[] | null;
  return { result: answer && [...answer, ...answer].reverse() };
};

const on =
  (method: string, change: (answer: Record<string, unknown>) => object | null): Lie =>
  async (call) => {
    if (call.method !== method) return null;
    const answer = (await call.ask(call.method, call.params)) as Record<string, unknown> | null;
    return { result: answer && change(answer) };
  };

/** Every second call fails: what is asked again may succeed. */
function half(lie: Lie): Lie {
  let calls = 0;
  return async (call) => (++calls % 2 === 0 ? null : lie(call));
}

/** Answers as if its newest block were some blocks older. */
const lagging: Lie = async ({ method, params, ask }) => {
  const behind = async () => {
    const head = BigInt((await ask('eth_blockNumber', [])) as string) - lagBlocks;
    return `0x${(head > 0n ? head : 0n).toString(16)}`;
  };
  if (method === 'eth_blockNumber') return { result: await behind() };
  if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return null;
  return { result: await ask(method, [await behind(), params[1]]) };
};

/** No reorganisation is deeper. */
const maxBack = 20n;

/** Its newest block stays the one that it was, or goes back with each answer, while other endpoints go on. */
function stale(stepBlocks: bigint): Lie {
  let behind = -stepBlocks;
  let first: bigint | null = null;
  return async ({ method, params, ask }) => {
    const isHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
    if (method !== 'eth_blockNumber' && !isHead) return null;
    first ??= BigInt((await ask('eth_blockNumber', [])) as string);
    if (behind < maxBack) behind += stepBlocks;
    const number = toHex(first > behind ? first - behind : 0n);
    return { result: isHead ? await ask(method, [number, params[1]]) : number };
  };
}

/** Knows of no block that is called safe or final: an error, or nothing. */
function withoutTags(): Lie {
  let told = 0;
  return async ({ method, params }) => {
    if (method !== 'eth_getBlockByNumber' || !['safe', 'finalized'].includes(String(params[0]))) return null;
    return ++told % 2 === 0 ? { result: null } : { error: { code: -32_602, message: 'unknown block tag' } };
  };
}

/** Tells of no transfer, with block filters and receipts that agree. */
const hidden: Lie = async ({ method, params, ask }) => {
  if (method === 'eth_getLogs') return { result: [] };
  if (method === 'eth_getBlockReceipts') return { error: { code: -32_601, message: 'method not found' } };
  const changed = {
    eth_getBlockByNumber: { logsBloom: `0x${'0'.repeat(512)}` },
    eth_getBlockByHash: { logsBloom: `0x${'0'.repeat(512)}` },
    eth_getTransactionReceipt: { logs: [], logsBloom: `0x${'0'.repeat(512)}` },
  }[method];
  const answer = changed && ((await ask(method, params)) as object | null);
  return answer ? { result: { ...answer, ...changed } } : null;
};

/** @param swap puts another request's reference into a transaction's calldata, if it ends with one */
export function lieOf(wrong: Wrong, swap: (txHash: string, input: string) => string): Lie {
  const status = (code: number, retryAfter?: string): Lie =>
    half(async () => ({ status: code, ...(retryAfter && { retryAfter }) }));
  switch (wrong) {
    case 'rpc-errors':
      return half(async () => ({ error: { code: -32_603, message: 'internal error' } }));
    case 'rpc-limits':
      return status(429, '1');
    case 'rpc-hang-up':
      return half(async () => 'hang up');
    case 'rpc-late':
      return half(async () => {
        await pause(lateMs);
        return null;
      });
    case 'rpc-lag':
      return lagging;
    case 'rpc-stands-still':
      return stale(0n);
    case 'rpc-goes-back':
      return stale(1n);
    case 'rpc-no-tags':
      return withoutTags();
    case 'rpc-giant': {
      giant ??= 'f'.repeat(giantBytes);
      let told = 0; // a few are enough
      return async () => (++told % 10 === 1 ? { result: giant } : { error: { code: -32_005, message: 'too much' } });
    }
    case 'rpc-nonsense':
      return status(200);
    case 'rpc-other-chain':
      return async ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : { status: 500 });
    case 'rpc-shuffled':
      return shuffled;
    case 'rpc-one-refused':
      return aboutSome({ error: { code: -32_000, message: 'response too large' } });
    case 'rpc-one-giant':
      giant ??= 'f'.repeat(giantBytes);
      return aboutSome({ result: giant });
    case 'lie-no-receipt':
      return async ({ method }) => (/Receipts?$/.test(method) ? { result: null } : null);
    case 'lie-older-block':
      return on('eth_getBlockByNumber', (block) => ({
        ...block,
        timestamp: `0x${(Number(block.timestamp) - 1).toString(16)}`,
      }));
    case 'lie-hidden':
      return hidden;
    case 'lie-reference': {
      const altered = (one: Record<string, unknown>) => ({ ...one, input: swap(String(one.hash), String(one.input)) });
      const alone = on('eth_getTransactionByHash', altered);
      const inBlock = on('eth_getBlockByNumber', ({ transactions, ...block }) => ({
        ...block,
        transactions: (transactions as Record<string, unknown>[]).map((one) => (one.hash ? altered(one) : one)),
      }));
      return async (call) => (await alone(call)) ?? inBlock(call);
    }
  }
}
