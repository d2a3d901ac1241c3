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

/** What the network shows was sent back; null if it shows nothing, so that only the merchant's word is known. */
const shownMicro = ({ state, given_micro }: RefundRow): bigint | null =>
  state === 'other' || given_micro === null ? null : BigInt(given_micro);

/** Whether the network shows that less was sent back than the merchant set out to refund. */
function isShort(refund: RefundRow): boolean {
  const micro = shownMicro(refund);
  return micro !== null && micro < BigInt(refund.usdc_micro);
}

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
  const micro = shownMicro(refund);
  const dueMicro = BigInt(refund.usdc_micro);
  const confirmed = isShort(refund) ? t.refundedPart : t.refunded;
  const text = micro === null ? t.refundReported : refund.state === 'confirmed' ? confirmed : t.refunding;
  const amount = groupMicro(words, micro ?? dueMicro);
  return fill(text, { merchant, amount, due: groupMicro(words, dueMicro) });
}
