import { type Sql, sqlState, type Tx } from '../db/connection.ts';
import { type Fragment, identifiers } from '../db/sql.ts';

/** Attempts are kept in parts by month (`migrations/0069_attempts_by_month.sql`): so many are made ahead. */
export const monthsAhead = 24;
const lockMs = 2_000;
const lockNotAvailable = '55P03';
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

/**
 * As the owner of the tables: adds the months that are missing ahead. Where a lock cannot be had soon, the next start
 * does it: there are two years for it.
 */
export async function addAttemptMonths(owner: Sql): Promise<void> {
  await owner
    .begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = ${lockMs}`);
      await tx`select add_attempt_months(${monthsAhead})`;
    })
    .catch((error) => {
      if (sqlState(error) !== lockNotAvailable) throw error;
    });
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
  const old = (await listParts(owner)).filter(({ until }) => until <= before && until <= new Date());
  await owner.unsafe(`set statement_timeout = ${detachMs}`);
  for (const { name, pending } of old) {
    const how = pending ? owner`finalize` : owner`concurrently`;
    await owner`alter table webhook_attempts detach partition ${identifiers(name)} ${how}`;
    if (drop) await owner`drop table ${identifiers(name)}`;
  }
  return old.map(({ name }) => name);
}
