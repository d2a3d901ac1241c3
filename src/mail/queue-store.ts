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
 * The sender, the server of the recipient, and the id of the key that encrypted the mail: expressions of the index by
 * server. The sender is written in another way, which means the same because no mail has both: otherwise the planner
 * may read the index by time, and sort thousands of mails.
 */
const senderByServer = (sql: Sql) => sql`coalesce(for_partner_id, partner_id, '00000000-0000-0000-0000-000000000000')`;
const serverOf = (sql: Sql) => sql`lower(split_part(recipient, '@', -1))`;
const keyOf = (sql: Sql) => sql`coalesce(${keyIdIn(sql, sql`sealed`)}, '')`;

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

/** How many of a sender's oldest due mails are read for one that can be sent. */
const oldestRead = 8;
/** How many mail servers are then read, twice: from a random name on, and from the first. */
const serversRead = 100;
/** How many mails a claim may choose from, because other nodes may claim one of them at the same moment. */
const choice = 5;

/**
 * Claims a mail by moving its next attempt: a crash in between delays it, but does not lose it. One that another node
 * has claimed meanwhile is due later. The sender with the fewest mails under way comes first, so one with thousands
 * delays nobody. Of a sender, the mail that is due first is claimed. If the first ones are all to busy servers, the
 * others are found by server, however many wait in front of them. The statement also sorts by the columns that are
 * fixed: so the planner reads an index in its order and stops at the first row. Mails whose key this node lacks are
 * left to others. Those of a key that was given up are claimed: they fail, and are given up like others that cannot be
 * sent.
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
  const waits = sql`sent_at is null and next_attempt_at < 'infinity' and urgent = ${urgent}
    ${dueSince(sql, sql`next_attempt_at`, since)}`;
  const free = (sender: Fragment, max: number) => freeMails(sql, { waits, sender, busy, keyIds, max });
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
        cross join lateral (${free(sql`s.sender`, 1)}) first
      where s.next_attempt_at <= now() and s.sender <> all(${busy.senders}::uuid[])
      order by coalesce(held.count, 0), first.next_attempt_at limit 1)
    update mails set attempts = attempts + 1,
      next_attempt_at = case when attempts + 1 < ${maxAttempts}
        then now() + least(${firstWaitMs} * interval '1 ms' * 2 ^ attempts, interval '1 day') else 'infinity' end
    where id = (
      select id from mails
      where id = any(array(select id from (${free(sql`(select sender from turn)`, choice)}) found))
        and next_attempt_at <= now()
      order by next_attempt_at limit 1 for update skip locked)
    returning id, recipient, subject, body, body_html, unsubscribe_url, sealed, urgent, ${senderOf(sql)} as sender,
      attempts >= ${maxAttempts} as last`;
  return mail ?? null;
}

type Wanted = { waits: Fragment; sender: Fragment; busy: Busy; keyIds: readonly string[]; max: number };

/**
 * A select of a sender's due mails that can be sent now, as `id` and `next_attempt_at`: those among its oldest, and
 * then the oldest to each server. It reads a bounded number of rows. The random start lets every server have its turn
 * where more wait than are read.
 */
function freeMails(sql: Sql, { waits, sender, busy, keyIds, max }: Wanted): Fragment {
  const isFree = (server: Fragment, key: Fragment) => sql`
    ${server} <> all(${busy.servers}::text[]) and (${key} = '' or ${key} = any(${keyIds}::text[])
      or ${key} in (select key_id from secret_key_marks where forgotten_at is not null))`;
  const [server, key] = [serverOf(sql), keyOf(sql)];
  const ofSender = sql`${waits} and ${senderByServer(sql)} = ${sender}`;
  const inOrder = sql`order by ${senderByServer(sql)}, ${server}, ${key}, next_attempt_at limit 1`;
  const byServer = (from: string) => sql`
    (with recursive parties as (
      (select ${server} as at_server, ${key} as key, id, next_attempt_at, 1 as place from mails
        where ${ofSender} and ${server} >= ${from} ${inOrder})
      union all
      select next.*, p.place + 1 from parties p cross join lateral (
        select ${server}, ${key}, id, next_attempt_at from mails
        where ${ofSender} and (${server}, ${key}) > (p.at_server, p.key) ${inOrder}) next
      where p.place < ${serversRead})
    select id, next_attempt_at from parties where next_attempt_at <= now() and ${isFree(sql`at_server`, sql`key`)})`;
  return sql`
    (select id, next_attempt_at from (
        select id, next_attempt_at, recipient, sealed from mails
        where ${waits} and ${senderOf(sql)} = ${sender} and next_attempt_at <= now()
        order by ${senderOf(sql)}, next_attempt_at limit ${oldestRead}) oldest
      where ${isFree(server, key)})
    union all ${byServer(randomName())}
    union all ${byServer('')}
    limit ${max}`;
}

/** Two characters with which the name of a server may begin. */
const randomName = () => Math.floor(Math.random() * 36 ** 2).toString(36);

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
