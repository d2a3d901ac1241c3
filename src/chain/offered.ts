import type { ChainConfig, TokenConfig } from '../config/chains.ts';

/**
 * The chains on which a wallet can be paid, also those that are not offered.
 *
 * @param walletChainIds the chains on which a contract wallet's code was checked; null for any
 */
export function payableChains(chains: readonly ChainConfig[], walletChainIds: readonly number[] | null): ChainConfig[] {
  return chains.filter(({ chainId }) => walletChainIds?.includes(chainId) ?? true);
}

/** The chains on which a customer is offered to pay a wallet; see `payableChains`. */
export function offeredChains(chains: readonly ChainConfig[], walletChainIds: readonly number[] | null): ChainConfig[] {
  return payableChains(chains, walletChainIds).filter((chain) => offeredTokens(chain).length > 0);
}

/** The ids of the chains that are offered. */
export const offeredChainIds = (chains: readonly ChainConfig[]): number[] =>
  offeredChains(chains, null).map(({ chainId }) => chainId);

/** The tokens of a chain that customers are offered; none while the operator takes the chain out of service. */
export const offeredTokens = ({ tokens }: Pick<ChainConfig, 'tokens'>): TokenConfig[] =>
  tokens.filter(({ offered }) => offered !== false);
