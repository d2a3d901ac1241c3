import type { Scope, Tx } from '../../db/connection.ts';
import type { Fragment, Tag } from '../../db/sql.ts';
import { seenStatus } from '../expiry.ts';
import { type States, statesOf } from '../in-states.ts';
import { isOverpaid, joinPayments, overpaidMicro, paymentsOfPage } from './page-payments-store.ts';

/** The status of a request in one word, as the partner's list shows it. */
export const portalStatuses = [
  ...(['requested', 'opened', 'underpaid', 'confirming', 'paid', 'paidTwice', 'overpaid'] as const),
  ...(['expired', 'late', 'voided', 'paidVoided'] as const),
] as const;
/**
 * What needs a person's attention comes before the status itself. `underpaid`: part of the amount arrived. `overpaid`:
 * more than the amount arrived, and the excess was not refunded. `paidTwice`, `late`, `paidVoided`: money probably
 * meant for it arrived a second time, too late, or after it was cancelled, does not count and was not refunded. The
 * larger amount decides, since anybody can send a little.
 */
export type PortalStatus = (typeof portalStatuses)[number];

/** The display status of a request `r` that its page's payments are joined to. */
export const portalStatus = (sql: Tag) => sql`(
  case when r.proof_status = 'attached' then 'confirming'
    when r.proof_status = 'verified' then
      case when ${overpaidMicro(sql)} > coalesce(received.stray_micro, 0) then 'overpaid'
        when received.stray_reason = 'already_paid' then 'paidTwice' when ${isOverpaid(sql)} then 'overpaid' else 'paid' end
    when received.stray_reason = 'voided' then 'paidVoided'
    when received.stray_reason = 'late' then 'late'
    when lacking.request_id is not null then 'underpaid'
    else ${seenStatus(sql)} end)`;

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

/**
 * The condition that a request `r` can have a display status, besides its stored states. Rare statuses are looked up in
 * one scan, instead of being searched for in the list.
 */
export function canHavePortalStatus(sql: Tag, scope: Scope, wanted: PortalStatus): Fragment {
  if (wanted === 'underpaid') return isAmong(sql, underpaidIds(sql, scope));
  if (wanted === 'overpaid') return isAmong(sql, overpaidIds(sql, scope));
  if (wanted in reasons) return isAmong(sql, meantFor(sql, scope, reasons[wanted as keyof typeof reasons]));
  return sql``;
}

/** The condition that a request `r` is one of these. */
export const isAmong = (sql: Tag, ids: Fragment): Fragment => sql`and r.id = any(array(${ids}))`;

/** The requests of which a part was paid. */
export const underpaidIds = (sql: Tag, { partnerId, testMode }: Scope): Fragment => sql`
  select request_id from underpaid_requests where partner_id = ${partnerId} and test_mode = ${testMode}`;

/** The requests for which more arrived than was due, refunded or not. */
export const overpaidIds = (sql: Tag, { partnerId, testMode }: Scope): Fragment => sql`
  select request_id from overpaid_requests where partner_id = ${partnerId} and test_mode = ${testMode}`;

/** The requests for which money that does not count was probably meant. */
export const meantFor = (sql: Tag, { partnerId, testMode }: Scope, reason: string): Fragment => sql`
  select candidate_request_id from transfers
  where partner_id = ${partnerId} and test_mode = ${testMode} and request_id is null
    and judged_at is not null and candidate_request_id is not null and reason = ${reason}`;

/** The display status of one request; null if there is no such request. */
export async function selectPortalStatus(tx: Tx, scope: Scope, id: string): Promise<PortalStatus | null> {
  const [row] = await tx<{ display_status: PortalStatus }[]>`
    with page as materialized (
      select * from requests where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id}
    ), ${paymentsOfPage(tx, scope)}
    select ${portalStatus(tx)} as display_status from page r ${joinPayments(tx)}`;
  return row?.display_status ?? null;
}
