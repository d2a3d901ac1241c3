import type { Html } from '../lib/text/html.ts';
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
} satisfies Record<string, StateKind>;

/** A refund's state as a word with a shape. */
export function refundBadge(words: Words, { state }: { state: keyof typeof refundShapes }): Html {
  return badge(refundShapes[state], commonTexts(words).refunded.badges[state]);
}
