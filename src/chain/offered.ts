import type { ChainConfig } from '../config/chains.ts';

/**
 * The chains on which a wallet can be paid.
 *
 * @param walletChainIds the chains on which a contract wallet's code was checked; null for any
 */
export function offeredChains(chains: readonly ChainConfig[], walletChainIds: readonly number[] | null): ChainConfig[] {
  return chains.filter(({ chainId }) => walletChainIds?.includes(chainId) ?? true);
}
