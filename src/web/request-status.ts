import type { Html } from '../lib/text/html.ts';
import type { PortalStatus } from '../requests/lists/browse.ts';
import type { RequestRow } from '../requests/store.ts';
import { portalTexts } from '../texts/portal.ts';
import { badge, type StateKind } from '../ui/components.ts';
import { instant } from '../ui/formats.ts';
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

/**
 * The time at which a request expires or has expired, under its name. Null for one that was paid or cancelled before.
 * Its `status` must be the effective one.
 */
export function expiryFact(
  words: Words,
  names: { expires: string; expired: string },
  row: Pick<RequestRow, 'status' | 'proof_status' | 'expires_at'>,
): [string, Html] | null {
  if (row.status === 'expired') return [names.expired, instant(words, row.expires_at)];
  const isOver = row.status === 'voided' || row.proof_status === 'verified';
  return isOver ? null : [names.expires, instant(words, row.expires_at)];
}
