import type { ChainConfig } from '../../config/chains.ts';
import { connectRpc, RpcError } from '../rpc.ts';
import { type DeployedCode, readDeployedCode } from './state.ts';

/**
 * What a chain has at the contract's address. `none`: no address is configured. If endpoints disagree, the worse answer
 * counts.
 */
export type ContractState = DeployedCode | 'none' | 'unreachable';

const timeoutMs = 3_000;
const worstFirst = ['foreign', 'absent', 'unreachable', 'deployed'] as const;

/** Asks every endpoint of a chain what code the configured address has. Never throws for a chain in trouble. */
export async function queryContractState({ chainId, recurringContract, rpcUrls }: ChainConfig): Promise<ContractState> {
  if (recurringContract === null) return 'none';
  const states = await Promise.all(
    rpcUrls.map(async (url) => {
      try {
        return await readDeployedCode(connectRpc(url, timeoutMs), chainId, recurringContract);
      } catch (error) {
        if (error instanceof RpcError) return 'unreachable';
        throw error;
      }
    }),
  );
  return worstFirst.find((state) => states.includes(state)) ?? 'unreachable';
}
