import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { type Fragment, identifiers } from '../db/sql.ts';
import { dayMs } from '../lib/durations.ts';

/** Attempts are kept in parts by month (`migrations/0069_attempts_by_month.sql`): so many are made ahead. */
export const monthsAhead = 24;
/** An attempt of the last minute of a month is recorded in it a little later. */
const stillWrittenMs = dayMs;
/** For who waits until all transactions that use the table have ended: none may take longer. */
const detachMs = 60_000;

/**
 * Of attempts `a`: those of the delivery `d`. An attempt begins after its event was made, and none after it was
 * delivered, so that only the parts of that time are read. Clocks may differ.
 */
export const attemptsOf = (sql: Sql | Tx): Fragment => sql`
  a.partner_id = d.partner_id and a.test_mode = d.test_mode and a.delivery_id = d.id
    and a.started_at >= d.created_at - interval '1 hour'
    and a.started_at <= case when d.delivered_at is null then 'infinity' else d.delivered_at + interval '1 hour' end`;

/** Of attempts `a`: those of all deliveries of a query `page`, in the months of its time. One scan checks the scope once. */
export const attemptsOfPage = (tx: Tx, { partnerId, testMode }: Scope): Fragment => tx`
  a.partner_id = ${partnerId} and a.test_mode = ${testMode} and a.delivery_id = any(array(select id from page))
    and a.started_at >= (select min(created_at) - interval '1 hour' from page)
    and a.started_at <= least(statement_timestamp() + interval '1 day', (
      select max(case when delivered_at is null then 'infinity' else delivered_at + interval '1 hour' end) from page))`;

/**
 * Loop: adds the months that are missing ahead. Where a lock cannot be had soon, it throws: there are two years for the
 * next run to do it.
 *
 * @returns how many were added
 */
export async function makeAttemptMonths({ db }: Pick<Context, 'db'>): Promise<number> {
  return (await db.sql`select make_attempt_months(${monthsAhead})`).length;
}

export type Part = {
  name: string;
  /** All its attempts began before; in whole months (UTC). */
  until: Date;
  bytes: number;
  /** A detaching that was broken off; it is not read any more. */
  pending: boolean;
};

/** The parts that hold attempts or will, the oldest first. */
export async function listParts(owner: Sql): Promise<Part[]> {
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
 * As the owner of the tables: takes the parts off whose attempts all began before. Nobody who reads or writes attempts
 * waits for it. What was taken off is a table by itself, to be dumped and dropped.
 *
 * @param drop also drops them
 * @returns their names
 */
export async function detachBefore(owner: Sql, before: Date, drop: boolean): Promise<string[]> {
  const ended = new Date(Date.now() - stillWrittenMs);
  const old = (await listParts(owner)).filter(({ until }) => until <= before && until <= ended);
  await owner.unsafe(`set statement_timeout = ${detachMs}`);
  for (const { name, pending } of old) {
    const how = pending ? owner`finalize` : owner`concurrently`;
    await owner`alter table webhook_attempts detach partition ${identifiers(name)} ${how}`;
    if (drop) await owner`drop table ${identifiers(name)}`;
  }
  return old.map(({ name }) => name);
}
