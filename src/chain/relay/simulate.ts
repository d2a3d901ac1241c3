import type { ChainConfig } from '../../config/chains.ts';
import { connectRpc, type Hex, RpcError } from '../rpc.ts';

/** `reverted`: every endpoint says so; `data` is what the contract reverted with, `0x` where it is not told. */
export type Simulation = { kind: 'ok'; gas: bigint } | { kind: 'reverted'; data: Hex } | { kind: 'unreachable' };

const timeoutMs = 4_000;
/** How nodes say that a call fails, beside the code 3 that most use. */
const failing = /revert|invalid opcode|invalid jump|out of gas|gas required exceeds|stack (?:over|under)flow/i;

/**
 * Runs a call at one endpoint without sending it. That it succeeds is believed at once, since sending it costs a fee
 * at most. That it fails has consequences, so every other endpoint is asked too.
 */
export async function simulateCall(chain: ChainConfig, call: { from: Hex; to: Hex; data: Hex }): Promise<Simulation> {
  let reverted: Simulation | null = null;
  let silent = false;
  for (const url of chain.rpcUrls) {
    const answer = await askOne(url, call);
    if (answer.kind === 'ok') return answer;
    if (answer.kind === 'reverted') reverted ??= answer;
    else silent = true;
  }
  return reverted && !silent ? reverted : { kind: 'unreachable' };
}

async function askOne(url: string, call: { from: Hex; to: Hex; data: Hex }): Promise<Simulation> {
  try {
    return { kind: 'ok', gas: await connectRpc(url, timeoutMs).estimateGas(call) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { said } = error;
    if (error.kind !== 'refused' || !said) return { kind: 'unreachable' };
    const isFailure = said.code === 3 || said.data !== null || failing.test(said.message);
    return isFailure ? { kind: 'reverted', data: said.data ?? '0x' } : { kind: 'unreachable' };
  }
}
