import type { Database, Scope, Sql, Tx } from '../db/connection.ts';
import { dueSince, type Since } from '../db/due.ts';
import type { Statement, Tag } from '../db/sql.ts';

/** By mail, or as a message to a phone. */
export type Channel = 'mail' | 'phone';

/** A receipt that is due. `attempts` counts those begun. */
export type DueReceipt = {
  partner_id: string;
  test_mode: boolean;
  request_id: string;
  channel: Channel;
  attempts: number;
};

/** What a request received: the sum of the transfers that count for it, in micro units. */
export function selectReceived(sql: Tag, scope: Scope, requestId: string): Statement<{ received_micro: string }[]> {
  return sql<{ received_micro: string }[]>`
    select coalesce(sum(value), 0)::text as received_micro from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId} and counts`;
}

/** The receipts that one request is owed. */
export type Owed = { partner_id: string; test_mode: boolean; request_id: string; channels: Channel[] };

/** Returns what went wrong, and null when all is well: it never fails the transaction that it is part of. */
export async function insertReceipts(tx: Tx, owed: readonly Owed[]): Promise<string | null> {
  const rows = await tx<{ fault: string | null }[]>`
    select queue_receipts(partner_id, test_mode, request_id, channels) as fault
    from json_to_recordset(${JSON.stringify(owed)}::json)
      as o (partner_id uuid, test_mode boolean, request_id uuid, channels text[])`;
  return rows.find(({ fault }) => fault !== null)?.fault ?? null;
}

/**
 * The loops' look-up over all partners: claims what is due by moving its next attempt. Alternates between partners, so
 * one with thousands delays nobody. A crash in between delays a receipt but does not lose it. After the last attempt it
 * waits for an operator.
 *
 * @param waits `firstMs` before the second attempt, twice as long before each further one; `maxAttempts` in all
 * @param since from when on receipts that wait are read
 */
export function claimReceipts(
  db: Database,
  channel: Channel,
  waits: { firstMs: number; maxAttempts: number },
  limit: number,
  since: Since,
): Promise<DueReceipt[]> {
  const waiting = db.sql`channel = ${channel} and done_at is null and next_attempt_at < 'infinity'
    ${dueSince(db.sql, db.sql`next_attempt_at`, since)}`;
  return db.sql<DueReceipt[]>`
    with recursive parties as (
      (select partner_id, next_attempt_at from receipts where ${waiting} order by partner_id, next_attempt_at limit 1)
      union all
      select n.* from parties p cross join lateral (
        select partner_id, next_attempt_at from receipts where ${waiting} and partner_id > p.partner_id
        order by partner_id, next_attempt_at limit 1) n
    ), due_parties as materialized (
      select partner_id from parties where next_attempt_at <= now()
    ), turns as (
      select d.*, row_number() over (partition by d.partner_id order by d.next_attempt_at) as turn
      from due_parties p cross join lateral (
        select partner_id, test_mode, request_id, next_attempt_at from receipts
        where ${waiting} and partner_id = p.partner_id and next_attempt_at <= now()
        order by next_attempt_at
        -- The first of each are enough where there are more partners than that.
        limit (select case when count(*) > ${limit}::int then 1 else ${limit}::int end from due_parties)) d
    ), next as (
      select partner_id, test_mode, request_id from turns order by turn, random() limit ${limit}
    ), due as (
      select e.partner_id, e.test_mode, e.request_id
      from receipts e join next n using (partner_id, test_mode, request_id)
      where e.channel = ${channel} and e.done_at is null and e.next_attempt_at <= now() for update of e skip locked
    )
    update receipts r set attempts = r.attempts + 1,
      next_attempt_at = case when r.attempts + 1 < ${waits.maxAttempts}
        then now() + ${waits.firstMs} * interval '1 ms' * 2 ^ r.attempts else 'infinity' end
    from due
    where r.channel = ${channel} and (r.partner_id, r.test_mode, r.request_id) = (due.partner_id, due.test_mode, due.request_id)
    returning r.partner_id, r.test_mode, r.request_id, r.channel, r.attempts`;
}

/** Marks a receipt as passed on; false if it already was. */
export async function updateDone(tx: Tx | Sql, scope: Scope, requestId: string, channel: Channel): Promise<boolean> {
  const { count } = await tx`
    update receipts set done_at = now(), error = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId}
      and channel = ${channel} and done_at is null`;
  return count === 1;
}

/** Stores why an attempt failed. A receipt that is given up has no further attempt. */
export async function updateReceiptFailed(
  tx: Tx | Sql,
  scope: Scope,
  receipt: { request_id: string; channel: Channel },
  { error, givenUp }: { error: string; givenUp: boolean },
): Promise<void> {
  await tx`
    update receipts set error = ${error}, next_attempt_at = case when ${givenUp} then 'infinity' else next_attempt_at end
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${receipt.request_id}
      and channel = ${receipt.channel} and done_at is null`;
}
