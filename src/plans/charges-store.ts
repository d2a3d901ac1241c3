import type { Scope, Tx } from '../db/connection.ts';
import { seenStatus } from '../requests/expiry.ts';
import type { CollectionReason, CollectionState } from './collect/rules.ts';
import type { Day } from './rules.ts';

/** A charge with its request's amounts and state; an expired one is shown as expired at once, stored or not. */
export type ChargeRow = {
  number: number;
  due_on: Day;
  request_id: string;
  made_at: Date;
  status: string;
  proof_status: string;
  fiat_int: string;
  fiat_code: string;
  usdc_micro: string;
  /** Its state if the customer's wallet is charged; null if the customer is asked by link. */
  collection: CollectionState | null;
  /** Why the last attempt failed, was postponed or ended; null when nothing is wrong. */
  collect_reason: CollectionReason | null;
  /** The time of the next attempt, after one that failed or was postponed. */
  next_attempt_at: Date | null;
};

/** Charges of a plan, the newest first. */
export function selectCharges(
  tx: Tx,
  scope: Scope,
  planId: string,
  before: number | null,
  limit: number,
): Promise<ChargeRow[]> {
  return tx<ChargeRow[]>`
    select c.number, c.due_on::text as due_on, c.request_id, c.made_at, r.proof_status, r.fiat_int, r.fiat_code,
      r.usdc_micro, ${seenStatus(tx)} as status, k.state as collection, k.reason as collect_reason,
      case when k.reason is not null then k.due_at end as next_attempt_at
    from plan_charges c
      join requests r on (r.partner_id, r.test_mode, r.id) = (c.partner_id, c.test_mode, c.request_id)
      left join collections k
        on (k.partner_id, k.test_mode, k.plan_id, k.number) = (c.partner_id, c.test_mode, c.plan_id, c.number)
    where c.partner_id = ${scope.partnerId} and c.test_mode = ${scope.testMode} and c.plan_id = ${planId}
      ${before === null ? tx`` : tx`and c.number < ${before}`}
    order by c.number desc limit ${limit}`;
}
