import type { ChainConfig } from '../config/chains.ts';
import { connectRpc, type Rpc, RpcError } from './rpc.ts';

/**
 * The endpoints of a chain that are asked while somebody waits. The second one may know what the first does not, or
 * answer when the first is down. Asking more would take too long.
 */
export const promptEndpoints = ({ rpcUrls }: Pick<ChainConfig, 'rpcUrls'>): string[] => rpcUrls.slice(0, 2);

/**
 * Asks a chain's endpoints in order until one answers.
 *
 * @throws RpcError of the last one when none does
 */
export async function queryWithFailover<T>(
  { rpcUrls }: Pick<ChainConfig, 'rpcUrls'>,
  timeoutMs: number,
  ask: (rpc: Rpc) => Promise<T>,
): Promise<T> {
  let fault: unknown = new RpcError('unreachable', 'no endpoint is configured');
  for (const url of rpcUrls) {
    try {
      return await ask(connectRpc(url, timeoutMs));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      fault = error;
    }
  }
  throw fault;
}
