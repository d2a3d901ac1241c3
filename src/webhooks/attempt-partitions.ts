import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { type Fragment, identifiers } from '../db/sql.ts';
import { dayMs, minuteMs } from '../lib/durations.ts';

/** How many monthly partitions of attempts (`migrations/0069_attempts_by_month.sql`) are created ahead. */
export const monthsAhead = 24;
/** An attempt in the last minute of a month is recorded a little later. */
const stillWrittenMs = dayMs;
/** How long to wait for all transactions that use the table; none may take longer. */
const detachMs = minuteMs;

/**
 * The condition on attempts `a` that they belong to the delivery `d`. An attempt begins after its event was created and
 * before it was delivered, so only the partitions of that time are read. The hour allows for clocks that differ.
 */
export const attemptsOf = (sql: Sql | Tx): Fragment => sql`
  a.partner_id = d.partner_id and a.test_mode = d.test_mode and a.delivery_id = d.id
    and a.started_at >= d.created_at - interval '1 hour'
    and a.started_at <= case when d.delivered_at is null then 'infinity' else d.delivered_at + interval '1 hour' end`;

/**
 * As `attemptsOf`, for all deliveries of a query `page`, in the partitions of its time. One scan checks the scope only
 * once.
 */
export const attemptsOfPage = (tx: Tx, { partnerId, testMode }: Scope): Fragment => tx`
  a.partner_id = ${partnerId} and a.test_mode = ${testMode} and a.delivery_id = any(array(select id from page))
    and a.started_at >= (select min(created_at) - interval '1 hour' from page)
    and a.started_at <= least(statement_timestamp() + interval '1 day', (
      select max(case when delivered_at is null then 'infinity' else delivered_at + interval '1 hour' end) from page))`;

/**
 * Loop: creates the partitions that are missing ahead. If it does not soon get a lock, it throws: later runs have two
 * years to succeed.
 *
 * @returns how many were created
 */
export async function createPartitions({ db }: Pick<Context, 'db'>): Promise<number> {
  return (await db.sql`select make_attempt_months(${monthsAhead})`).length;
}

export type Partition = {
  name: string;
  /** All its attempts began before this start of a month (UTC). */
  until: Date;
  bytes: number;
  /** Whether its detaching was interrupted; it is no longer read. */
  pending: boolean;
};

/** The partitions, also those for coming months, the oldest first. */
export async function listPartitions(owner: Sql): Promise<Partition[]> {
  const rows = await owner<{ name: string; until: string; bytes: string; pending: boolean }[]>`
    select c.relname as name, pg_total_relation_size(c.oid) as bytes, i.inhdetachpending as pending,
      extract(epoch from substring(pg_get_expr(c.relpartbound, c.oid) from 'TO [(]''([^'']+)''[)]')::timestamptz) * 1000 as until
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'webhook_attempts'::regclass order by 4`;
  return rows.map(({ name, until, bytes, pending }) => ({
    ...{ name, pending, bytes: Number(bytes) },
    until: new Date(Number(until)),
  }));
}

/**
 * As the owner of the tables, detaches the partitions whose attempts all began before. This blocks neither reads nor
 * writes of attempts. A detached partition is a separate table, which can be dumped and dropped.
 *
 * @param drop whether to drop them too
 * @returns their names
 */
export async function detachBefore(owner: Sql, before: Date, drop: boolean): Promise<string[]> {
  // By the clock that dates the attempts: a month that this machine takes for ended may still be written.
  const [written] = await owner<{ since: Date }[]>`
    select now() - ${stillWrittenMs} * interval '1 ms' as since`;
  if (!written) throw new Error('the database did not say what time it is');
  const old = (await listPartitions(owner)).filter(({ until }) => until <= before && until <= written.since);
  await owner.unsafe(`set statement_timeout = ${detachMs}`);
  for (const { name, pending } of old) {
    const how = pending ? owner`finalize` : owner`concurrently`;
    await owner`alter table webhook_attempts detach partition ${identifiers(name)} ${how}`;
    if (drop) await owner`drop table ${identifiers(name)}`;
  }
  return old.map(({ name }) => name);
}
