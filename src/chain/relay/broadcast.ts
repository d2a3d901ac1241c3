import type { ChainConfig } from '../../config/chains.ts';
import { chunksOf } from '../../lib/chunks.ts';
import { mapFew } from '../../lib/map-few.ts';
import { takesBatches, withoutBatches } from '../batches.ts';
import { connectRpc, type Hex, isAway, type Rpc, RpcError } from '../rpc.ts';

/**
 * How endpoints answered to a signed transaction. `taken`: one has it. `used`: its nonce is used, by itself or by
 * another. `underpriced`: its fees are too low. `poor`: the sender has too little coin. `refused`: anything else,
 * including no answer from an endpoint that answers about others. `unreachable`: no endpoint answers. Only `taken`
 * proves anything, and no answer says whether it will be mined.
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

const nowhere: Broadcast = { kind: 'unreachable', words: 'no endpoint is configured' };
/** How many transactions are in one message, and how many messages or single transactions are sent at once. */
const batchSize = 25;
const few = 4;

/**
 * Sends a signed transaction to one endpoint, and to the next if that one does not take it; with `all`, to every
 * endpoint.
 */
export async function broadcast(chain: ChainConfig, signed: Hex, all = false): Promise<Broadcast> {
  const [answer = nowhere] = await broadcastAll(chain, [signed], all);
  return answer;
}

const isOpen = ({ kind }: Broadcast) => kind === 'refused' || kind === 'unreachable';
/** Which of two endpoints' answers counts: the more informative one. */
function better(one: Broadcast, other: Broadcast): Broadcast {
  if (other.kind === 'taken') return other;
  const saysMore = one.kind === 'unreachable' || (one.kind === 'refused' && !isOpen(other));
  return saysMore ? other : one;
}

/** The same for several; their answers are in the same order. */
export async function broadcastAll(chain: ChainConfig, signed: readonly Hex[], all: boolean): Promise<Broadcast[]> {
  const answers = signed.map((): Broadcast => nowhere);
  if (all) {
    const told = await Promise.all(chain.rpcUrls.map((url) => handOnAll(url, signed)));
    return answers.map((none, i) => told.reduce((best, of) => better(best, of[i] ?? none), none));
  }
  for (const url of chain.rpcUrls) {
    const left = signed.flatMap((one, i) => (isOpen(answers[i] ?? nowhere) ? [{ one, i }] : []));
    const told = await handOnAll(
      url,
      left.map(({ one }) => one),
    );
    for (const [place, { i }] of left.entries()) answers[i] = better(answers[i] ?? nowhere, told[place] ?? nowhere);
  }
  return answers;
}

async function handOnAll(url: string, signed: readonly Hex[]): Promise<Broadcast[]> {
  if (signed.length === 0) return [];
  return (await mapFew(chunksOf(signed, batchSize), few, (part) => handOnPart(url, part))).flat();
}

/**
 * Sends them in one message if the endpoint accepts it. What it does not take is sent alone, and that answer counts.
 */
async function handOnPart(url: string, part: readonly Hex[]): Promise<Broadcast[]> {
  const rpc = connectRpc(url, timeoutMs);
  let isTaken: boolean[] = [];
  if (part.length > 1 && takesBatches(url, 'broadcasts')) {
    try {
      isTaken = await rpc.sendRawTogether(part);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { kind, message: words } = error;
      withoutBatches(url, 'broadcasts', error);
      // Sent alone, each would only wait as long, unless one of them made the endpoint drop the connection.
      const isLost = kind === 'timeout' || kind === 'limited' || (kind === 'unreachable' && (await isAway(rpc)));
      if (isLost) return part.map(() => ({ kind: 'unreachable', words }));
    }
  }
  const entries = part.map((one, i) => ({ one, taken: isTaken[i] === true }));
  const told = await mapFew(entries, few, async ({ one, taken }) => (taken ? 'taken' : handOn(rpc, one)));
  const isUnanswered = told.some((one) => one instanceof RpcError && one.kind !== 'refused' && one.kind !== 'limited');
  const answersOthers = isUnanswered && !(await isAway(rpc));
  return told.map((one) => (one === 'taken' ? { kind: one } : readFailure(one, answersOthers)));
}

async function handOn(rpc: Rpc, signed: Hex): Promise<'taken' | RpcError> {
  try {
    await rpc.sendRaw(signed);
    return 'taken';
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

function readFailure(error: RpcError, answersOthers: boolean): Broadcast {
  const words = error.said?.message ?? error.message;
  if (error.kind === 'limited') return { kind: 'unreachable', words };
  if (error.kind !== 'refused') return { kind: answersOthers ? 'refused' : 'unreachable', words };
  const kind = meanings.find(([pattern]) => pattern.test(words))?.[1] ?? 'refused';
  return kind === 'taken' ? { kind } : { kind, words };
}
