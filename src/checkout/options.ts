import { encodeFunctionData, erc20Abi } from 'viem';
import type { ChainConfig, TokenConfig } from '../chain/config.ts';
import type { Checkout } from './read.ts';
import { payable } from './state.ts';

/** One way to send the money: a token on a network. */
export type Option = { index: number; chain: ChainConfig; token: TokenConfig; amountMicro: bigint };

/** What can be paid with now, and how much; empty when nothing is to be paid any more. */
export function payOptions({ chains, state, progress }: Checkout): Option[] {
  const part = payable(state);
  if (part === 'no') return [];
  const amountMicro = part === 'rest' ? progress.missingMicro : progress.dueMicro;
  return chains
    .flatMap((chain) => chain.tokens.map((token) => ({ chain, token, amountMicro })))
    .map((option, index) => ({ index, ...option }));
}

/** EIP-681: what a wallet reads from a QR code to fill in a transfer by itself. */
export function transferUri({ row }: Checkout, { chain, token, amountMicro }: Option): string {
  return `ethereum:${token.address}@${chain.chainId}/transfer?address=${row.wallet_address}&uint256=${amountMicro}`;
}

/**
 * What browser code needs to have a wallet send the money. The reference at the end of the calldata says which request
 * it is for: the token ignores it.
 */
export function walletOrders(checkout: Checkout, options: Option[]): object {
  const { row, state } = checkout;
  const suffix = `0x${Buffer.from(row.reference).toString('hex')}`;
  return {
    suffix,
    rest: state.kind === 'part',
    options: options.map(({ chain, token, amountMicro }) => ({
      chainId: `0x${chain.chainId.toString(16)}`,
      network: chain.name,
      token: token.address,
      symbol: token.symbol,
      micro: amountMicro.toString(),
      coin: chain.coin ?? 'ETH',
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [row.wallet_address as `0x${string}`, amountMicro],
      }),
      ...addChain(chain),
    })),
  };
}

/** EIP-3085, for a wallet that does not know the network; left out where the operator gives no public endpoint. */
function addChain({ chainId, name, publicRpcUrl, coin, explorerUrl }: ChainConfig): object {
  if (!publicRpcUrl) return {};
  return {
    add: {
      chainId: `0x${chainId.toString(16)}`,
      chainName: name,
      rpcUrls: [publicRpcUrl],
      nativeCurrency: { name: coin ?? 'Ether', symbol: coin ?? 'ETH', decimals: 18 },
      ...(explorerUrl ? { blockExplorerUrls: [explorerUrl] } : {}),
    },
  };
}
