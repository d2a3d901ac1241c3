import type { Html } from '../lib/text/html.ts';
import type { RefundRow } from '../refunds/read.ts';
import { commonTexts } from '../texts/common.ts';
import { badge, type StateKind } from '../ui/components.ts';
import type { Words } from '../ui/language.ts';

/** The badge's shape for each state of a refund. */
export const refundShapes = {
  returning: 'attention',
  sent: 'confirming',
  confirmed: 'paid',
  other: 'ended',
  failed: 'failed',
  missing: 'attention',
} satisfies Record<RefundRow['state'], StateKind>;

type Shown = Pick<RefundRow, 'state' | 'given_micro' | 'usdc_micro'>;

/** A refund's state in a word or two, which also says that less was sent back than came. */
export function refundLabel(words: Words, { state, given_micro, usdc_micro }: Shown): string {
  const { badges } = commonTexts(words).refunded;
  const isPartial = state === 'confirmed' && given_micro !== null && BigInt(given_micro) < BigInt(usdc_micro);
  return isPartial ? badges.partly : badges[state];
}

/** A refund's state as a word with a shape. */
export const refundBadge = (words: Words, refund: Shown): Html =>
  badge(refundShapes[refund.state], refundLabel(words, refund));
