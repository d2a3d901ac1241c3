import type { WalletChain } from './wallets.ts';

/** A token on a network, and the call that pays with it. The server makes this and everything below. */
export type PayOption = {
  chain: WalletChain & { coin: string };
  /** The token's contract. */
  token: string;
  symbol: string;
  /** Micro units, as text. */
  micro: string;
  /** Calldata of the transfer. */
  data: string;
  /** Whether a signature is enough: we send the payment, and pay the fee. */
  feeless: boolean;
};

/** What a wallet is asked to pay. */
export type Orders = {
  /** The request's reference, `0x…`, which is appended to the calldata. */
  suffix: string;
  /** Whether a partial payment has arrived. */
  rest: boolean;
  options: PayOption[];
};

/** The section with ways to pay; null if there are none, which another section says where one would expect them. */
export const methodsIn = (place: ParentNode) => place.querySelector<HTMLElement>('.ways[data-orders]');

export const ordersOf = (section: HTMLElement) => JSON.parse(section.dataset.orders ?? '') as Orders;
