import type { Html } from '../../lib/text/html.ts';
import type { BrowsedRow } from '../../requests/lists/browse.ts';
import { type PortalTexts, portalTexts } from '../../texts/portal.ts';
import type { StateKind } from '../../ui/components.ts';
import type { Words } from '../../ui/language.ts';
import { badge } from '../../web/table.ts';

type DisplayStatus = keyof PortalTexts['requests']['displayStatuses'];

const shapes: Record<DisplayStatus, StateKind> = {
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

/** Where a request stands, in one word: what wants a person's eye comes first. */
export function portalStatusOf(
  row: Pick<BrowsedRow, 'status' | 'proof_status' | 'received_micro' | 'unmatched_reason' | 'overpaid'>,
): DisplayStatus {
  if (row.proof_status === 'verified') {
    if (row.unmatched_reason === 'already_paid') return 'paidTwice';
    return row.overpaid ? 'overpaid' : 'paid';
  }
  if (row.proof_status === 'attached') return 'confirming';
  if (row.unmatched_reason === 'voided') return 'paidVoided';
  if (row.unmatched_reason === 'late') return 'late';
  return BigInt(row.received_micro) > 0n ? 'underpaid' : row.status;
}

export function portalStatusBadge(words: Words, row: Parameters<typeof portalStatusOf>[0]): Html {
  const displayStatus = portalStatusOf(row);
  return badge(shapes[displayStatus], portalTexts(words).requests.displayStatuses[displayStatus]);
}
