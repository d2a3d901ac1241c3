import type { Html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import type { StateKind } from '../ui/components.ts';
import type { Words } from '../ui/language.ts';
import { badge } from './table.ts';

/** The shape of what is known of a payment that was refunded, by its state. */
export const refundShapes = {
  returning: 'attention',
  sent: 'confirming',
  confirmed: 'paid',
  other: 'ended',
  failed: 'failed',
  missing: 'attention',
} satisfies Record<string, StateKind>;

/** Whether a payment was refunded, as word and shape. */
export function refundBadge(words: Words, { state }: { state: keyof typeof refundShapes }): Html {
  return badge(refundShapes[state], commonTexts(words).refunded.badges[state]);
}
