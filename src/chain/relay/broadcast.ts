import type { ChainConfig } from '../../config/chains.ts';
import { chunksOf } from '../../lib/chunks.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { rememberNoBatches, takesBatches } from '../batches.ts';
import { connectRpc, type Hex, isProviderDown, type Rpc, RpcError } from '../rpc.ts';

/**
 * What endpoints answered to a signed transaction. `accepted`: one has it. `nonce_used`: its nonce is used, by itself
 * or by another. `underpriced`: its fees are too low. `insufficient_funds`: the sender has too little coin. `refused`:
 * anything else, including no answer from an endpoint that answers about others. `unreachable`: no endpoint answers.
 * Only `accepted` proves anything, and no answer says whether it will be mined.
 */
export type BroadcastResult =
  | { kind: 'accepted' }
  | { kind: 'nonce_used' | 'underpriced' | 'insufficient_funds' | 'refused' | 'unreachable'; message: string };

const timeoutMs = 4_000;
const messagePatterns: [RegExp, 'accepted' | 'nonce_used' | 'underpriced' | 'insufficient_funds'][] = [
  [/already (?:known|imported|exists)|known transaction|alreadyknown/i, 'accepted'],
  [/nonce (?:is )?too low|nonce has already|oldnonce/i, 'nonce_used'],
  [
    /underpriced|fee (?:is )?(?:too low|less than|below)|less than block base fee|feetoolow|min(?:imum)? gas price/i,
    'underpriced',
  ],
  [/insufficient funds|insufficientfunds|not enough (?:funds|balance)/i, 'insufficient_funds'],
];

const noEndpoint: BroadcastResult = { kind: 'unreachable', message: 'no endpoint is configured' };
/** How many transactions are in one message, and how many messages or single transactions are sent at once. */
const batchSize = 25;
const messagesAtOnce = 4;

/** Sends a signed transaction to every endpoint. */
export async function broadcast(chain: ChainConfig, signed: Hex): Promise<BroadcastResult> {
  const [answer = noEndpoint] = await broadcastAll(chain, [signed], true);
  return answer;
}

const isOpen = ({ kind }: BroadcastResult) => kind === 'refused' || kind === 'unreachable';
/** Which of two endpoints' answers counts: the more informative one. */
function better(one: BroadcastResult, other: BroadcastResult): BroadcastResult {
  if (other.kind === 'accepted') return other;
  const saysMore = one.kind === 'unreachable' || (one.kind === 'refused' && !isOpen(other));
  return saysMore ? other : one;
}

/**
 * Sends signed transactions to one endpoint, and those that it does not accept to the next; with `all`, to every
 * endpoint. Their answers are in the same order.
 */
export async function broadcastAll(
  chain: ChainConfig,
  signed: readonly Hex[],
  all: boolean,
): Promise<BroadcastResult[]> {
  const answers = signed.map((): BroadcastResult => noEndpoint);
  if (all) {
    const results = await Promise.all(chain.rpcUrls.map((url) => submitAll(url, signed)));
    return answers.map((none, i) => results.reduce((best, of) => better(best, of[i] ?? none), none));
  }
  for (const url of chain.rpcUrls) {
    const left = signed.flatMap((one, i) => (isOpen(answers[i] ?? noEndpoint) ? [{ one, i }] : []));
    const results = await submitAll(
      url,
      left.map(({ one }) => one),
    );
    for (const [place, { i }] of left.entries())
      answers[i] = better(answers[i] ?? noEndpoint, results[place] ?? noEndpoint);
  }
  return answers;
}

async function submitAll(url: string, signed: readonly Hex[]): Promise<BroadcastResult[]> {
  if (signed.length === 0) return [];
  return (await mapLimited(chunksOf(signed, batchSize), messagesAtOnce, (part) => submitBatch(url, part))).flat();
}

/**
 * Sends them in one message if the endpoint accepts it. What it does not accept is sent alone, and that answer counts.
 */
async function submitBatch(url: string, part: readonly Hex[]): Promise<BroadcastResult[]> {
  const rpc = connectRpc(url, timeoutMs);
  let isAccepted: boolean[] = [];
  if (part.length > 1 && takesBatches(url, 'broadcasts')) {
    try {
      isAccepted = await rpc.sendRawTogether(part);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { kind, message } = error;
      rememberNoBatches(url, 'broadcasts', error);
      // Sent alone, each would only wait as long, unless one of them made the endpoint drop the connection.
      const isLost =
        kind === 'timeout' || kind === 'limited' || (kind === 'unreachable' && (await isProviderDown(rpc)));
      if (isLost) return part.map(() => ({ kind: 'unreachable', message }));
    }
  }
  const entries = part.map((one, i) => ({ one, accepted: isAccepted[i] === true }));
  const results = await mapLimited(entries, messagesAtOnce, async ({ one, accepted }) =>
    accepted ? 'accepted' : submitOne(rpc, one),
  );
  const isUnanswered = results.some(
    (one) => one instanceof RpcError && one.kind !== 'refused' && one.kind !== 'limited',
  );
  const answersOthers = isUnanswered && !(await isProviderDown(rpc));
  return results.map((one) => (one === 'accepted' ? { kind: one } : readFailure(one, answersOthers)));
}

async function submitOne(rpc: Rpc, signed: Hex): Promise<'accepted' | RpcError> {
  try {
    await rpc.sendRaw(signed);
    return 'accepted';
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

function readFailure(error: RpcError, answersOthers: boolean): BroadcastResult {
  const message = error.reported?.message ?? error.message;
  if (error.kind === 'limited') return { kind: 'unreachable', message };
  if (error.kind !== 'refused') return { kind: answersOthers ? 'refused' : 'unreachable', message };
  const kind = messagePatterns.find(([pattern]) => pattern.test(message))?.[1] ?? 'refused';
  return kind === 'accepted' ? { kind } : { kind, message };
}
