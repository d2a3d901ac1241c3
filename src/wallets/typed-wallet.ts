import type { OwnHost } from '../auth/host.ts';
import type { AskedWallet } from '../auth/siwe.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { isAddress } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';

/** The chains on which a merchant of this mode can be paid. */
export function chainsOf(ctx: Context, row: { test_mode: boolean }): ChainConfig[] {
  return ctx.chains[modeOf(row.test_mode)];
}

/** A wallet as named in a form, and the host to which the form was sent. */
export type TypedWallet = { address: string; chainId: number | null; host: OwnHost | null };

/**
 * Reads the wallet that a form names, which will be asked for a signature.
 *
 * @throws MerchantRefusal wallet_malformed, chain_unknown
 */
export function readWallet(chains: ChainConfig[], wallet: TypedWallet): AskedWallet {
  if (!isAddress(wallet.address)) throw new MerchantRefusal('wallet_malformed');
  const chainId = wallet.chainId ?? chains[0]?.chainId;
  if (chainId === undefined || !chains.some((chain) => chain.chainId === chainId)) {
    throw new MerchantRefusal('chain_unknown');
  }
  return { address: wallet.address.toLowerCase(), chainId, host: wallet.host };
}
