import type { RelayerLimits } from '../../config/chains.ts';

/** What a transaction offers per unit of gas, in wei: the maximum in all, and the part of it beyond the base fee. */
export type Offer = { maxFeeWei: bigint; priorityFeeWei: bigint };
/** What a chain charges now. */
export type GasPrice = { baseFeeWei: bigint; priorityFeeWei: bigint };

const lower = (a: bigint, b: bigint) => (a < b ? a : b);
export const higher = (a: bigint, b: bigint) => (a > b ? a : b);

/** The share of the limit that may go to a block's producer: a provider that claims more is not believed. */
const priorityShare = 5n;

/** The middle one; of two, the higher one. Undefined if there is none. */
function middle(amounts: readonly bigint[]): bigint | undefined {
  const sorted = [...amounts].sort((a, b) => (a < b ? -1 : 1));
  return sorted[sorted.length >> 1];
}

/** The usual priority fee of recent blocks, or what providers advise, if that is more. */
export const priorityFee = (recent: readonly bigint[], advised: readonly bigint[]): bigint =>
  higher(higher(middle(recent) ?? 0n, middle(advised) ?? 0n), 1n);

/**
 * What a chain charges, as its endpoints report it. One that claims more than may be offered is contradicted by another
 * one, so that it does not stop everything; only if all do, nothing is sent. Of the others the middle one counts, or
 * the higher one of two: an offer that is too high costs no more than the chain charges, and one that is too low waits.
 *
 * @param reported at least one
 */
export function agreedPrice(reported: readonly GasPrice[], limits: RelayerLimits): GasPrice {
  const bases = reported.filter((one) => !exceedsFeeLimit(one, limits)).map(({ baseFeeWei }) => baseFeeWei);
  const all = reported.map(({ baseFeeWei }) => baseFeeWei);
  const priorities = reported.map(({ priorityFeeWei }) => priorityFeeWei);
  return { baseFeeWei: middle(bases) ?? all.reduce(lower), priorityFeeWei: priorityFee(priorities, []) };
}

/** Whether a chain asks for more than may be offered: then nothing is sent. */
export const exceedsFeeLimit = ({ baseFeeWei }: GasPrice, { maxFeeWei }: RelayerLimits): boolean =>
  baseFeeWei >= maxFeeWei;

/** The first offer: room for the base fee to double. */
export function firstOffer(gasPrice: GasPrice, { maxFeeWei }: RelayerLimits): Offer {
  const priorityFeeWei = lower(gasPrice.priorityFeeWei, maxFeeWei / priorityShare);
  return { maxFeeWei: lower(2n * gasPrice.baseFeeWei + priorityFeeWei, maxFeeWei), priorityFeeWei };
}

/** An eighth more, rounded up. */
const raised = (wei: bigint) => wei + wei / 8n + 1n;

/**
 * The next offer for the same nonce: both fees higher by at least an eighth, as nodes require, and by more if the chain
 * now charges more. Null if the limit leaves no room.
 */
export function raisedOffer(last: Offer, gasPrice: GasPrice, limits: RelayerLimits): Offer | null {
  const fresh = firstOffer(gasPrice, limits);
  const priorityFeeWei = higher(raised(last.priorityFeeWei), fresh.priorityFeeWei);
  const maxFeeWei = higher(higher(raised(last.maxFeeWei), fresh.maxFeeWei), priorityFeeWei);
  return maxFeeWei > limits.maxFeeWei ? null : { maxFeeWei, priorityFeeWei };
}
