import { relayerAddresses } from '../../chain/relay/relay.ts';
import type { Context } from '../../context.ts';
import { chainOf } from '../mandates/chains.ts';
import type { MandateRow } from '../mandates/read.ts';
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

/** Whether a mandate's token and contract are still in use on its chain, and the request's wallet can be paid there. */
export function isOffered(
  ctx: Pick<Context, 'chains'>,
  mandate: MandateRow,
  { wallet_chain_ids: checkedOn }: { wallet_chain_ids: number[] | null },
): boolean {
  const chain = chainOf(ctx, mandate);
  const isConfigured =
    chain?.recurringContract === mandate.contract_address &&
    chain.tokens.some(({ address }) => address === mandate.token_address);
  return isConfigured && (checkedOn?.includes(chain.chainId) ?? true);
}

/**
 * Whether the relayer still has the address that a mandate names. A charge whose key this node lacks was left to other
 * nodes first (see `claimDueCharges`). A node without any key waits for one; if it has others, this one was removed.
 */
export function isExecutorKept(ctx: Pick<Context, 'config'>, { executor }: MandateRow): boolean {
  const addresses = relayerAddresses(ctx);
  return addresses.length === 0 || addresses.includes(executor);
}
