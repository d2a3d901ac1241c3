import type { ChainConfig } from '../config/chains.ts';
import { connectRpc, type Rpc, RpcError } from './rpc.ts';

/** `decimals()` */
export const decimalsCall = '0x313ce567';

/**
 * Compares one endpoint with the configuration: its chain id, and that each token has six decimals.
 *
 * @returns a sentence about the first fault; null when all is well
 * @throws RpcError when the endpoint does not answer
 */
export async function findFault(chain: ChainConfig, rpc: Rpc): Promise<string | null> {
  const id = await rpc.chainId();
  if (id !== chain.chainId) return `${rpc.host} serves chain ${id}, not ${chain.chainId}`;
  for (const { symbol, address } of chain.tokens) {
    const answer = await rpc.call(address, decimalsCall);
    if (answer.length !== 66 || BigInt(answer) !== 6n) {
      return `${symbol} at ${address} on chain ${chain.chainId} does not have six decimals according to ${rpc.host}`;
    }
  }
  return null;
}

const timeoutMs = 3_000;

/**
 * Checks at start what the configuration claims about a chain. An endpoint that does not answer is accepted for now:
 * the watcher checks it again before reading from it.
 *
 * @throws Error when an endpoint contradicts the configuration
 */
export async function checkTokens(chain: ChainConfig): Promise<void> {
  const faults = await Promise.all(
    chain.rpcUrls.map(async (url) => {
      try {
        return await findFault(chain, connectRpc(url, timeoutMs));
      } catch (error) {
        if (error instanceof RpcError && error.kind !== 'refused') return null;
        throw error;
      }
    }),
  );
  const fault = faults.find((sentence) => sentence !== null);
  if (fault) throw new Error(`CHAINS_FILE does not match the chains: ${fault}.`);
}
