import { type TransferKey, writeTransferKey } from '../payments/transfers.ts';
import { isRefundSent, type RefundRow } from '../refunds/read.ts';
import { payTexts } from '../texts/pay.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import type { Checkout } from './read.ts';

/** The refund that the merchant sent of a payment; undefined while none was sent. */
export function sentRefundOf({ refunds }: Checkout, key: TransferKey): RefundRow | undefined {
  const refund = refunds.get(writeTransferKey(key));
  return refund && isRefundSent(refund) ? refund : undefined;
}

/** Whether the network shows that less was sent back than the merchant set out to refund. */
const isShort = ({ state, given_micro, usdc_micro }: RefundRow): boolean =>
  state !== 'other' && given_micro !== null && BigInt(given_micro) < BigInt(usdc_micro);

/** Whether less was sent back of one of these payments than the merchant set out to refund. */
export const isAnyShort = (checkout: Checkout, keys: readonly TransferKey[]): boolean =>
  keys.some((key) => {
    const refund = sentRefundOf(checkout, key);
    return refund !== undefined && isShort(refund);
  });

/** What was sent back of these payments, a sentence each. It names no address, because anybody can open a pay page. */
export function refundSentences(checkout: Checkout, keys: readonly TransferKey[]): string[] {
  return keys.flatMap((key) => {
    const refund = sentRefundOf(checkout, key);
    return refund ? [refundSentence(checkout, refund)] : [];
  });
}

function refundSentence({ words, merchant }: Checkout, refund: RefundRow): string {
  const { statusMessage: t } = payTexts(words);
  const { state, given_micro, usdc_micro } = refund;
  // Of a transfer that no network shows, only the merchant's word is known.
  const isSeen = state !== 'other' && given_micro !== null;
  const confirmed = isShort(refund) ? t.refundedPart : t.refunded;
  const text = !isSeen ? t.refundReported : state === 'confirmed' ? confirmed : t.refunding;
  const amount = groupMicro(words, BigInt((isSeen && given_micro) || usdc_micro));
  return fill(text, { merchant, amount, due: groupMicro(words, BigInt(usdc_micro)) });
}
