import type { Scope, Tx } from '../../db/connection.ts';
import { seenStatus } from '../expiry.ts';
import { type States, statesOf } from '../in-states.ts';
import { isRefunded } from '../refunded.ts';

/** Where a request stands, in one word, as the partner's list shows it. */
export const portalStatuses = [
  ...(['requested', 'opened', 'underpaid', 'confirming', 'paid', 'paidTwice', 'overpaid'] as const),
  ...(['expired', 'late', 'voided', 'paidVoided'] as const),
] as const;
/**
 * What needs a person's attention comes before the status itself. `underpaid`: part of the amount arrived. `overpaid`:
 * more than the amount arrived, and the excess was not refunded. `paidTwice`, `late`, `paidVoided`: the newest money
 * probably meant for it arrived a second time, too late, or after it was cancelled, and does not count.
 */
export type PortalStatus = (typeof portalStatuses)[number];

/** True of a request `r` that was overpaid, as long as nothing of it was refunded. */
export function isOverpaid(tx: Tx) {
  const counted = tx`(t.partner_id, t.test_mode, t.request_id) = (r.partner_id, r.test_mode, r.id) and t.counts`;
  return tx`(
    r.proof_status = 'verified' and r.usdc_micro < (select sum(t.value) from transfers t where ${counted})
    and not exists (select from transfers t where ${counted} and ${isRefunded(tx)}))`;
}

/** Why the newest money probably meant for a request `r` does not count; null when there is none. */
const unmatchedReason = (tx: Tx) => tx`(
  select t.reason from transfers t
  where (t.partner_id, t.test_mode, t.candidate_request_id) = (r.partner_id, r.test_mode, r.id)
    and t.request_id is null and t.judged_at is not null
  order by t.block_time desc limit 1)`;

/** The display status of a request `r`. */
export const portalStatus = (tx: Tx) => tx`(
  case when r.proof_status = 'attached' then 'confirming'
    when r.proof_status = 'verified' then
      case when ${unmatchedReason(tx)} = 'already_paid' then 'paidTwice'
        when ${isOverpaid(tx)} then 'overpaid' else 'paid' end
    else case ${unmatchedReason(tx)} when 'voided' then 'paidVoided' when 'late' then 'late'
      else case when exists (select from underpaid_requests u
          where (u.partner_id, u.test_mode, u.request_id) = (r.partner_id, r.test_mode, r.id)) then 'underpaid'
        else ${seenStatus(tx)} end end end)`;

/** The stored states that can have this display status; null where the few requests in question are looked up. */
export function statesOfPortalStatus(wanted: PortalStatus | undefined): States | null {
  switch (wanted) {
    case 'requested':
    case 'opened':
    case 'expired':
    case 'voided':
      return statesOf(wanted, 'none');
    case 'confirming':
      return statesOf(undefined, 'attached');
    case 'paid':
      return statesOf(undefined, 'verified');
    default:
      return null;
  }
}

/** The reasons of unmatched money by which a display status is found. */
const reasons = { paidTwice: 'already_paid', late: 'late', paidVoided: 'voided' } as const;

/** The condition that a request `r` has a display status. What is rare is looked up rather than come across. */
export function hasPortalStatus(tx: Tx, scope: Scope, wanted: PortalStatus) {
  const inScope = tx`partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  const among =
    wanted === 'underpaid'
      ? tx`and r.id in (select request_id from underpaid_requests where ${inScope})`
      : wanted === 'overpaid'
        ? tx`and r.id in (select request_id from overpaid_requests where ${inScope})`
        : wanted in reasons
          ? tx`and r.id in (${meantFor(tx, scope, reasons[wanted as keyof typeof reasons])})`
          : tx``;
  return tx`${among} and ${portalStatus(tx)} = ${wanted}`;
}

/** The requests for which money that does not count was probably meant. */
export const meantFor = (tx: Tx, scope: Scope, reason: string) => tx`
  select candidate_request_id from transfers
  where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id is null
    and judged_at is not null and candidate_request_id is not null and reason = ${reason}`;

/** The display status of one request; null where there is none. */
export async function selectPortalStatus(tx: Tx, scope: Scope, id: string): Promise<PortalStatus | null> {
  const [row] = await tx<{ display_status: PortalStatus }[]>`
    select ${portalStatus(tx)} as display_status from requests r
    where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${id}`;
  return row?.display_status ?? null;
}
