import type { RelayerLimits } from '../../config/chains.ts';

/** What a transaction offers for a unit of gas, in wei: at most in all, and of that beyond the base fee. */
export type Offer = { maxFeeWei: bigint; priorityFeeWei: bigint };
/** What a chain asks for now. */
export type Asked = { baseFeeWei: bigint; priorityFeeWei: bigint };

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const most = (a: bigint, b: bigint) => (a > b ? a : b);

/** The part of the limit that may go to a block's maker: a provider that claims more than that is not believed. */
const priorityShare = 5n;

/** The usual priority fee of recent blocks, or what the provider advises, if that is more. */
export function priorityFee(recent: readonly bigint[], advised: bigint | null): bigint {
  const sorted = [...recent].sort((a, b) => (a < b ? -1 : 1));
  return most(most(sorted[sorted.length >> 1] ?? 0n, advised ?? 0n), 1n);
}

/** Whether a chain asks for more than may be offered: then nothing is sent. */
export const isTooDear = ({ baseFeeWei }: Asked, { maxFeeWei }: RelayerLimits): boolean => baseFeeWei >= maxFeeWei;

/** The first offer: room for the base fee to double. */
export function firstOffer(asked: Asked, { maxFeeWei }: RelayerLimits): Offer {
  const priorityFeeWei = least(asked.priorityFeeWei, maxFeeWei / priorityShare);
  return { maxFeeWei: least(2n * asked.baseFeeWei + priorityFeeWei, maxFeeWei), priorityFeeWei };
}

/** An eighth more, rounded up. */
const raised = (wei: bigint) => wei + wei / 8n + 1n;

/**
 * The next offer for the same nonce: both fees higher by an eighth at least, as nodes ask for, and by more where the
 * chain now asks for more. Null where the limit leaves no room.
 */
export function raisedOffer(last: Offer, asked: Asked, limits: RelayerLimits): Offer | null {
  const fresh = firstOffer(asked, limits);
  const priorityFeeWei = most(raised(last.priorityFeeWei), fresh.priorityFeeWei);
  const maxFeeWei = most(most(raised(last.maxFeeWei), fresh.maxFeeWei), priorityFeeWei);
  return maxFeeWei > limits.maxFeeWei ? null : { maxFeeWei, priorityFeeWei };
}
