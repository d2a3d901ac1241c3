import type { ChainConfig, TokenConfig } from '../config/chains.ts';

/**
 * The chains on which a wallet can be paid.
 *
 * @param walletChainIds the chains on which a contract wallet's code was checked; null for any
 */
export function offeredChains(chains: readonly ChainConfig[], walletChainIds: readonly number[] | null): ChainConfig[] {
  return chains.filter(({ chainId }) => walletChainIds?.includes(chainId) ?? true);
}

/** The tokens of a chain that customers are offered: at least one. */
export const offeredTokens = ({ tokens }: Pick<ChainConfig, 'tokens'>): TokenConfig[] =>
  tokens.filter(({ offered }) => offered !== false);
