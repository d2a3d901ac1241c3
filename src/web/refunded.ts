import type { Html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import type { StateKind } from '../ui/components.ts';
import type { Words } from '../ui/language.ts';
import { badge } from './table.ts';

/** The shape of what is known of a payment that was given back, by its state. */
export const returnedShapes = {
  returning: 'attention',
  sent: 'confirming',
  confirmed: 'paid',
  other: 'ended',
  failed: 'failed',
  missing: 'attention',
} satisfies Record<string, StateKind>;

/** Whether a payment was given back, as word and shape. */
export function returnedBadge(words: Words, { state }: { state: keyof typeof returnedShapes }): Html {
  return badge(returnedShapes[state], commonTexts(words).returned.badges[state]);
}
