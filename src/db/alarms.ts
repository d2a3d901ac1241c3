import { batchesOf } from '../lib/paging.ts';
import { type Alarm, type AlarmKind, knownAlarm } from './alarm-kinds.ts';
import type { Sql, Tx } from './connection.ts';

/** Raises an alarm for the operator, or updates its details. The time of the first raise is kept. */
export async function raiseAlarm(sql: Sql | Tx, { kind, subject, details }: Alarm): Promise<void> {
  await sql`
    insert into alarms (kind, subject, details) values (${kind}, ${subject}, ${jsonOf(details)}::jsonb)
    on conflict (kind, subject) do update set details = excluded.details, cleared_at = null,
      raised_at = case when alarms.cleared_at is null then alarms.raised_at else now() end`;
}

/** Ends an alarm; does nothing if it is not raised. */
export function clearAlarm(sql: Sql | Tx, kind: AlarmKind, subject = ''): Promise<void> {
  return clearAlarms(sql, [{ kind, subject }]);
}

/** Ends several alarms in one statement; leaves out those that are not raised. */
export async function clearAlarms(sql: Sql | Tx, alarms: { kind: AlarmKind; subject: string }[]): Promise<void> {
  await sql`
    update alarms set cleared_at = now() where cleared_at is null and (kind, subject) in (
      select * from unnest(${alarms.map(({ kind }) => kind)}::text[], ${alarms.map(({ subject }) => subject)}::text[]))`;
}

export type KeptAlarm = Alarm & { raised_at: Date; cleared_at: Date | null };

/** Raised alarms, newest first, then ended ones, the most recently ended first. */
export const listAlarms = (sql: Sql, limit: number): Promise<KeptAlarm[]> => selectAlarms(sql, null, limit);

/** All alarms in the same order, in batches. */
export const exportAlarms = (sql: Sql): AsyncGenerator<KeptAlarm[]> =>
  batchesOf(
    (after, limit) => selectAlarms(sql, after, limit),
    ({ place }) => place,
  );

type AlarmRow = { kind: string; subject: string; details: object; raised_at: Date; cleared_at: Date | null };

/** `place` is an alarm's position in the order, with times as exact as the database keeps them. */
async function selectAlarms(sql: Sql, after: string | null, limit: number): Promise<(KeptAlarm & { place: string })[]> {
  const last = sql`${after}::jsonb`;
  const times = sql`(coalesce(cleared_at, 'infinity'), raised_at)`;
  const lastTimes = sql`((${last}->>0)::timestamptz, (${last}->>1)::timestamptz)`;
  const isBehind = sql`
    ${times} < ${lastTimes} or (${times} = ${lastTimes} and (kind, subject) > (${last}->>2, ${last}->>3))`;
  const rows = await sql<(AlarmRow & { raised: string; ended: string })[]>`
    select kind, subject, details, raised_at, cleared_at,
      raised_at::text as raised, coalesce(cleared_at, 'infinity')::text as ended
    from alarms ${after === null ? sql`` : sql`where ${isBehind}`}
    order by coalesce(cleared_at, 'infinity') desc, raised_at desc, kind, subject limit ${limit}`;
  return rows.map(({ raised_at, cleared_at, raised, ended, ...row }) => {
    const place = JSON.stringify([ended, raised, row.kind, row.subject]);
    return { ...knownAlarm(row), raised_at, cleared_at, place };
  });
}

/** Which of these kinds of alarm are raised for a subject. */
export async function raisedOf(sql: Sql, subject: string, kinds: readonly AlarmKind[]): Promise<AlarmKind[]> {
  const rows = await sql<{ kind: AlarmKind }[]>`
    select kind from alarms where subject = ${subject} and cleared_at is null and kind = any(${[...kinds]}::text[])`;
  return rows.map(({ kind }) => kind);
}

/** How many alarms are raised, by kind and by chain id ('' for none). */
export function countAlarms(sql: Sql): Promise<{ kind: string; chain_id: string; raised: number }[]> {
  return sql<{ kind: string; chain_id: string; raised: number }[]>`
    select kind, coalesce(details->>'chainId', '') as chain_id, count(*)::int as raised
    from alarms where cleared_at is null group by 1, 2`;
}

/** A server's message may contain characters that PostgreSQL's JSON cannot store. */
function jsonOf(details: object): string {
  return JSON.stringify(details, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}
