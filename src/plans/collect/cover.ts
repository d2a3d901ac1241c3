import { relayerAddresses } from '../../chain/relay/relay.ts';
import type { Context } from '../../context.ts';
import type { MandateRow } from '../mandates/read.ts';
import { chainOf } from '../mandates/where.ts';
import type { Price, Terms } from './rules.ts';

/** A mandate as the rules read it. */
export const termsOf = (row: MandateRow): Terms => ({
  payee: row.payee,
  capMicro: BigInt(row.cap_micro),
  capFiatInt: BigInt(row.cap_fiat_int),
  fiatCode: row.fiat_code,
  startsAt: row.starts_at,
  endsAt: row.ends_at,
});

type PricedRow = { wallet_address: string; usdc_micro: string; fiat_int: string; fiat_code: string };

/** What a request asks for, as the rules read it. */
export const priceOf = (row: PricedRow): Price => ({
  walletAddress: row.wallet_address,
  usdcMicro: BigInt(row.usdc_micro),
  fiatInt: BigInt(row.fiat_int),
  fiatCode: row.fiat_code,
});

/**
 * Whether a mandate can still be charged on its chain by the relayer's address that it names, and the request's wallet
 * can be paid there.
 */
export function isOffered(
  ctx: Pick<Context, 'chains' | 'config'>,
  mandate: MandateRow,
  { wallet_chain_ids: checkedOn }: { wallet_chain_ids: number[] | null },
): boolean {
  const chain = chainOf(ctx, mandate);
  const isConfigured =
    chain?.recurringContract === mandate.contract_address &&
    chain.tokens.some(({ address }) => address === mandate.token_address);
  const addresses = relayerAddresses(ctx);
  // A node without any key waits for one. If there are other keys, this one was removed.
  const isKept = addresses.length === 0 || addresses.includes(mandate.executor);
  return isConfigured && isKept && (checkedOn?.includes(chain.chainId) ?? true);
}
