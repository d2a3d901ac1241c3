import type { ChainConfig } from '../../config/chains.ts';
import { connectRpc, RpcError } from '../rpc.ts';
import { type DeployedCode, readDeployedCode } from './state.ts';

/**
 * What a chain has at the contract's address. `none`: no address is configured. If endpoints disagree, the worse answer
 * counts.
 */
export type ContractStanding = DeployedCode | 'none' | 'unreachable';

const timeoutMs = 3_000;
/** The worst first. */
const order = ['foreign', 'absent', 'unreachable', 'stands'] as const;

/** Asks every endpoint of a chain what code the configured address has. Never throws for a chain in trouble. */
export async function askStanding({ chainId, recurringContract, rpcUrls }: ChainConfig): Promise<ContractStanding> {
  if (recurringContract === null) return 'none';
  const words = await Promise.all(
    rpcUrls.map(async (url) => {
      try {
        return await readDeployedCode(connectRpc(url, timeoutMs), chainId, recurringContract);
      } catch (error) {
        if (error instanceof RpcError) return 'unreachable';
        throw error;
      }
    }),
  );
  return order.find((word) => words.includes(word)) ?? 'unreachable';
}
