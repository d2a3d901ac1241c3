import type { ChainConfig } from '../../config/chains.ts';
import { connectRpc, type Hex, RpcError } from '../rpc.ts';

/**
 * What endpoints made of a signed transaction. `taken`: one has it. `used`: its nonce is used, by itself or by
 * another. `underpriced`: its fees are too low. `poor`: the sender has too little coin. `refused`, `unreachable`:
 * anything else. Only `taken` proves something, and none says whether it will be mined.
 */
export type Broadcast =
  | { kind: 'taken' }
  | { kind: 'used' | 'underpriced' | 'poor' | 'refused' | 'unreachable'; words: string };

const timeoutMs = 4_000;
const meanings: [RegExp, 'taken' | 'used' | 'underpriced' | 'poor'][] = [
  [/already (?:known|imported|exists)|known transaction|alreadyknown/i, 'taken'],
  [/nonce (?:is )?too low|nonce has already|oldnonce/i, 'used'],
  [
    /underpriced|fee (?:is )?(?:too low|less than|below)|less than block base fee|feetoolow|min(?:imum)? gas price/i,
    'underpriced',
  ],
  [/insufficient funds|insufficientfunds|not enough (?:funds|balance)/i, 'poor'],
];

/** Hands on a signed transaction to one endpoint, the next where one does not answer; with `all` to every one. */
export async function broadcast(chain: ChainConfig, signed: Hex, all = false): Promise<Broadcast> {
  if (all) {
    const answers = await Promise.all(chain.rpcUrls.map((url) => handOn(url, signed)));
    return answers.find(({ kind }) => kind === 'taken') ?? (answers[0] as Broadcast);
  }
  let last: Broadcast = { kind: 'unreachable', words: 'no endpoint is configured' };
  for (const url of chain.rpcUrls) {
    last = await handOn(url, signed);
    if (last.kind !== 'unreachable') return last;
  }
  return last;
}

async function handOn(url: string, signed: Hex): Promise<Broadcast> {
  try {
    await connectRpc(url, timeoutMs).sendRaw(signed);
    return { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const words = error.said?.message ?? error.message;
    if (error.kind !== 'refused') return { kind: 'unreachable', words };
    const kind = meanings.find(([pattern]) => pattern.test(words))?.[1] ?? 'refused';
    return kind === 'taken' ? { kind } : { kind, words };
  }
}
