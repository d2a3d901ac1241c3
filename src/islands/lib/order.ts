import type { WalletChain } from './wallets.ts';

/** A token on a network, and the call that pays with it; made by the server, as all that follows. */
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

/** What a wallet is to be asked for. */
export type Orders = {
  /** The reference that says which request is paid, `0x…`: goes to the end of the calldata. */
  suffix: string;
  /** Whether a partial payment came already. */
  rest: boolean;
  options: PayOption[];
};

/** A chain's number as wallets write it. */
export const hexId = (chainId: number) => `0x${chainId.toString(16)}`;
