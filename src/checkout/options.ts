import { encodeFunctionData, erc20Abi } from 'viem';
import { offeredTokens } from '../chain/offered.ts';
import type { ChainConfig, TokenConfig } from '../config/chains.ts';
import { checksummed } from '../ui/address.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** One way to send the money: a token on a network. */
export type Option = { index: number; chain: ChainConfig; token: TokenConfig; amountMicro: bigint };

/** The ways to pay now, and how much; empty if nothing can be paid any more. */
export function payOptions({ chains, state, progress }: Pick<Checkout, 'chains' | 'state' | 'progress'>): Option[] {
  if (payable(state) === 'no') return [];
  const amountMicro = 'missingMicro' in state ? state.missingMicro : progress.dueMicro;
  return chains
    .flatMap((chain) => offeredTokens(chain).map((token) => ({ chain, token, amountMicro })))
    .map((option, index) => ({ index, ...option }));
}

/** The EIP-681 URI that a wallet reads from a QR code to fill in a transfer. */
export function transferUri({ row }: Checkout, { chain, token, amountMicro }: Option): string {
  const [contract, to] = [checksummed(token.address), checksummed(row.wallet_address)];
  return `ethereum:${contract}@${chain.chainId}/transfer?address=${to}&uint256=${amountMicro}`;
}

/**
 * What browser code needs to make a wallet send the money. The reference at the end of the calldata identifies the
 * request; the token ignores it.
 */
export function walletOrders(checkout: Checkout, options: Option[]): object {
  const { row, state, feeless } = checkout;
  const suffix = `0x${Buffer.from(row.reference).toString('hex')}`;
  return {
    suffix,
    rest: payable(state) === 'rest',
    options: options.map(({ chain, token, amountMicro }) => ({
      chain: knownToWallets(chain),
      token: token.address,
      symbol: token.symbol,
      micro: amountMicro.toString(),
      feeless: feeless.some((offer) => offer.chain === chain && offer.token === token),
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [row.wallet_address as `0x${string}`, amountMicro],
      }),
    })),
  };
}

/** The data with which a wallet switches to a network, and adds it if the operator provides a public endpoint. */
export function knownToWallets({ chainId, name, publicRpcUrl, coin, explorerUrl }: ChainConfig): object {
  return { chainId, name, publicRpcUrl, coin: coin ?? 'ETH', explorerUrl };
}
