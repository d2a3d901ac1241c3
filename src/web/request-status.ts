import type { Html } from '../lib/text/html.ts';
import type { PortalStatus } from '../requests/lists/browse.ts';
import { portalTexts } from '../texts/portal.ts';
import { badge, type StateKind } from '../ui/components.ts';
import type { Words } from '../ui/language.ts';

const shapes: Record<PortalStatus, StateKind> = {
  requested: 'waiting',
  opened: 'waiting',
  expired: 'ended',
  voided: 'ended',
  confirming: 'confirming',
  paid: 'paid',
  paidTwice: 'attention',
  overpaid: 'attention',
  underpaid: 'attention',
  late: 'attention',
  paidVoided: 'attention',
};

/** A request's status as a word with a shape. */
export function requestStatusBadge(words: Words, status: PortalStatus): Html {
  return badge(shapes[status], portalTexts(words).requests.displayStatuses[status]);
}
