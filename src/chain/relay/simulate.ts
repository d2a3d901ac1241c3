import type { ChainConfig } from '../../config/chains.ts';
import { rememberNoBatches, takesBatches } from '../batches.ts';
import { connectRpc, type Hex, RpcError } from '../rpc.ts';

/** `reverted`: every endpoint says so; `data` is the reason, `0x` if it is not given or they disagree on it. */
export type Simulation = { kind: 'ok'; gas: bigint } | { kind: 'reverted'; data: Hex } | { kind: 'unreachable' };

const timeoutMs = 4_000;
/** How nodes word that a call fails, if they do not use the code 3 as most do. */
const failing = /revert|invalid opcode|invalid jump|out of gas|gas required exceeds|stack (?:over|under)flow/i;

/** A call to simulate. */
export type CallToSimulate = { from: Hex; to: Hex; data: Hex };

/**
 * Simulates several calls in one message to one endpoint, or the next one if that does not answer.
 *
 * @returns for each how much gas it used; null if `simulateCall` must find out
 */
export async function simulateTogether(
  chain: ChainConfig,
  calls: readonly CallToSimulate[],
): Promise<(bigint | null)[]> {
  for (const url of chain.rpcUrls) {
    if (calls.length < 2 || !takesBatches(url, 'simulations')) continue;
    try {
      return await connectRpc(url, timeoutMs).estimateGasTogether(calls);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      rememberNoBatches(url, 'simulations', error);
    }
  }
  return calls.map(() => null);
}

/**
 * Simulates a call at one endpoint. Success is believed at once, since sending the call costs at most a fee. A failure
 * and its reason have consequences, so every other endpoint is asked too.
 */
export async function simulateCall(chain: ChainConfig, call: CallToSimulate): Promise<Simulation> {
  const reasons = new Set<Hex>();
  let reverted = false;
  let silent = false;
  for (const url of chain.rpcUrls) {
    const answer = await simulateAt(url, call);
    if (answer.kind === 'ok') return answer;
    if (answer.kind === 'unreachable') silent = true;
    else {
      reverted = true;
      // Not every node gives the reason.
      if (answer.data !== '0x') reasons.add(answer.data.toLowerCase() as Hex);
    }
  }
  if (!reverted || silent) return { kind: 'unreachable' };
  const [data = '0x', ...others] = reasons;
  return { kind: 'reverted', data: others.length === 0 ? data : '0x' };
}

async function simulateAt(url: string, call: CallToSimulate): Promise<Simulation> {
  try {
    return { kind: 'ok', gas: await connectRpc(url, timeoutMs).estimateGas(call) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { reported } = error;
    if (error.kind !== 'refused' || !reported) return { kind: 'unreachable' };
    const isFailure = reported.code === 3 || reported.data !== null || failing.test(reported.message);
    return isFailure ? { kind: 'reverted', data: reported.data ?? '0x' } : { kind: 'unreachable' };
  }
}
