import type { Sql } from '../db/connection.ts';
import { type Due, dueSince, type Since } from '../db/due.ts';
import { keyIdIn } from '../db/secret-keys.ts';
import type { Fragment } from '../db/sql.ts';
import { nilUuid } from '../lib/ids.ts';
import type { StoredContent } from './content.ts';

/**
 * A claimed mail. `sender`: the partner for whose sake it is sent, or `ourselves`. `last`: whether this is its last
 * attempt.
 */
export type Claimed = StoredContent & { id: string; recipient: string; sender: string; last: boolean; urgent: boolean };

/** Stands for "no partner" in the index by which claims alternate between senders. */
export const ourselves = nilUuid;
/** The expression of the index, with its constant written out. */
const senderOf = (sql: Sql) => sql`coalesce(partner_id, for_partner_id, '00000000-0000-0000-0000-000000000000')`;

/**
 * The wait before the second attempt. Each further wait is twice as long, up to a day. It is longer than sending takes,
 * so nobody else claims a mail in progress.
 */
const firstWaitMs = 120_000;
/** With these waits, the last attempt is almost two and a half days after the first. */
const maxAttempts = 12;

/**
 * How many mails of each sender this node is sending, and the mail servers and senders that may not have another one.
 */
export type Busy = { bySender: ReadonlyMap<string, number>; servers: string[]; senders: string[] };

/**
 * Claims a mail by moving its next attempt: a crash in between delays it, but does not lose it. The sender with the
 * fewest mails under way comes first, so one with thousands delays nobody. The statement also sorts by the sender,
 * which is fixed: so the planner reads the index in its order and stops at the first row. Mails whose key this node
 * lacks are left to others. Those of a key that was given up are claimed: they fail, and are given up like others that
 * cannot be sent.
 *
 * @param keyIds the ids of the secret keys that this node has
 * @param since from when on mails that wait are read
 */
export async function claimMail(
  sql: Sql,
  urgent: boolean,
  busy: Busy,
  keyIds: readonly string[],
  since: Since,
): Promise<Claimed | null> {
  const isReadable = sql`(sealed is null or ${keyIdIn(sql, sql`sealed`)} = any(${keyIds}::text[])
    or ${keyIdIn(sql, sql`sealed`)} in (select key_id from secret_key_marks where forgotten_at is not null))`;
  const isFree = sql`lower(split_part(recipient, '@', -1)) <> all(${busy.servers}::text[]) and ${isReadable}`;
  const waits = sql`sent_at is null and next_attempt_at < 'infinity' and urgent = ${urgent}
    ${dueSince(sql, sql`next_attempt_at`, since)}`;
  const [mail] = await sql<Claimed[]>`
    with recursive senders as (
      (select ${senderOf(sql)} as sender, next_attempt_at from mails where ${waits}
        order by ${senderOf(sql)}, next_attempt_at limit 1)
      union all
      select next.* from senders s cross join lateral (
        select ${senderOf(sql)}, next_attempt_at from mails where ${waits} and ${senderOf(sql)} > s.sender
        order by ${senderOf(sql)}, next_attempt_at limit 1) next
    ), turn as (
      select s.sender from senders s
        left join unnest(${[...busy.bySender.keys()]}::uuid[], ${[...busy.bySender.values()]}::int[]) as held (sender, count)
          using (sender)
        cross join lateral (
          select next_attempt_at from mails
          where ${waits} and ${senderOf(sql)} = s.sender and next_attempt_at <= now() and ${isFree}
          order by ${senderOf(sql)}, next_attempt_at limit 1) first
      where s.next_attempt_at <= now() and s.sender <> all(${busy.senders}::uuid[])
      order by coalesce(held.count, 0), first.next_attempt_at limit 1)
    update mails set attempts = attempts + 1,
      next_attempt_at = case when attempts + 1 < ${maxAttempts}
        then now() + least(${firstWaitMs} * interval '1 ms' * 2 ^ attempts, interval '1 day') else 'infinity' end
    where id = (
      select id from mails
      where ${waits} and ${senderOf(sql)} = (select sender from turn) and next_attempt_at <= now() and ${isFree}
      order by ${senderOf(sql)}, next_attempt_at limit 1 for update skip locked)
    returning id, recipient, subject, body, body_html, unsubscribe_url, sealed, urgent, ${senderOf(sql)} as sender,
      attempts >= ${maxAttempts} as last`;
  return mail ?? null;
}

/** Marks a mail as sent, and deletes its content unless it is to be kept. */
export async function updateSent(sql: Sql, id: string, { keepContent }: { keepContent: boolean }): Promise<void> {
  const emptied = keepContent ? sql`` : sql`, body = null, body_html = null, unsubscribe_url = null, sealed = null`;
  await sql`update mails set sent_at = now() ${emptied} where id = ${id}`;
}

/** A select of the times at which the mails that wait were queued, as `since`. */
export const waitingSince = (sql: Sql): Fragment =>
  sql`select created_at as since from mails where sent_at is null and next_attempt_at < 'infinity'`;

/** The time of the next attempt of any mail; mails that were given up have none. */
export const mailsDue: Due = (sql, since) => {
  const waits = sql`sent_at is null and next_attempt_at < 'infinity' ${dueSince(sql, sql`next_attempt_at`, since)}`;
  return sql`
    select min(lane.at) from (
      select min(next_attempt_at) as at from mails where urgent and ${waits}
      union all
      select min(next_attempt_at) from mails where not urgent and ${waits}) lane`;
};
