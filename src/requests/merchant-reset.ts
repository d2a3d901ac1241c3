import type { Scope, Tx } from '../db/connection.ts';
import { isWaiting } from './expiry.ts';
import { reservedAfterEndMs } from './reservations.ts';

/**
 * Locks a merchant's unpaid requests until the transaction ends, in the order that everybody uses. Whoever sends a
 * payment for a request locks it first, so it is sent either before this or not at all.
 */
export async function lockUnpaidOf(tx: Tx, { partnerId, testMode }: Scope, accountId: string): Promise<void> {
  await tx`
    select from requests r where r.partner_id = ${partnerId} and r.test_mode = ${testMode} and r.account_id = ${accountId}
      and ${isWaiting(tx)} order by r.id for update`;
}

/**
 * Whether a merchant has received money, including money that is not final, that belongs to no request, or that the
 * relayer is sending.
 */
export async function hasReceivedMoney(tx: Tx, { partnerId, testMode }: Scope, accountId: string): Promise<boolean> {
  const rows = await tx`
    select from transfers where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}
    union all
    select from requests where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}
      and proof_status <> 'none'
    union all
    select from relay_transactions where partner_id = ${partnerId} and test_mode = ${testMode}
      and account_id = ${accountId} and purpose in ('charge', 'authorization') and state not in ('reverted', 'lost')
    limit 1`;
  return rows.length > 0;
}

/**
 * Whether a page may say that a merchant has received money. `hasReceivedMoney` decides, but may look through all
 * transfers of the partner; this reads indexes, and does not know of what the relayer is sending.
 */
export async function isKnownToHaveMoney(tx: Tx, { partnerId, testMode }: Scope, accountId: string): Promise<boolean> {
  const rows = await tx`
    select from requests where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}
      and proof_status <> 'none'
    union all
    select from transfers where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}
      and request_id is null
    union all
    select from underpaid_requests u
      join requests r on (r.partner_id, r.test_mode, r.id) = (u.partner_id, u.test_mode, u.request_id)
    where u.partner_id = ${partnerId} and u.test_mode = ${testMode} and r.account_id = ${accountId}
    limit 1`;
  return rows.length > 0;
}

/** Voids a merchant's unpaid requests, opened or not; their amounts stay reserved for a day. */
export async function voidUnpaidOf(
  tx: Tx,
  { partnerId, testMode }: Scope,
  accountId: string,
  now: Date,
): Promise<void> {
  await tx`
    with voided as (
      update requests r set status = 'voided', voided_at = ${now}
      where r.partner_id = ${partnerId} and r.test_mode = ${testMode} and r.account_id = ${accountId} and ${isWaiting(tx)}
      returning id)
    update amount_reservations set reserved_until = ${now}::timestamptz + ${reservedAfterEndMs} * interval '1 ms'
    where partner_id = ${partnerId} and test_mode = ${testMode} and request_id in (select id from voided)`;
}
