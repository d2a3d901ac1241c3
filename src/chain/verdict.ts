import type { ChainConfig } from '../config/chains.ts';
import { queryWithFailover } from './failover.ts';
import { type Rpc, RpcError } from './rpc.ts';

/** Whether a contract would do what it is asked for now, according to the chain. */
export type Verdict = 'accepted' | 'refused' | 'unreachable';

/** A verdict by simulated calls: `unreachable` when no endpoint answers. */
export async function queryVerdict(
  chain: ChainConfig,
  timeoutMs: number,
  isAccepted: (rpc: Rpc) => Promise<boolean>,
): Promise<Verdict> {
  try {
    return (await queryWithFailover(chain, timeoutMs, isAccepted)) ? 'accepted' : 'refused';
  } catch (error) {
    if (error instanceof RpcError) return 'unreachable';
    throw error;
  }
}

/**
 * Whether a simulated call succeeds; false if it reverts.
 *
 * @throws RpcError when the endpoint does not say
 */
export async function succeeds(rpc: Rpc, call: Parameters<Rpc['tryCall']>[0]): Promise<boolean> {
  try {
    await rpc.tryCall(call);
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return false;
    throw error;
  }
}
