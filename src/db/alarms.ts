import type { Sql, Tx } from './connection.ts';

/**
 * Raises an alarm for the operator, or renews its message; it keeps the time at which it was first raised.
 *
 * @param name its kind and what it concerns: by it the administration tells it in the reader's language. Who is concerned
 *   follows a colon, or is an id: figures count alarms by their kind and name nobody
 * @param message a sentence in English, for commands and logs; what others said of it follows its first colon
 */
export async function raiseAlarm(sql: Sql | Tx, name: string, message: string): Promise<void> {
  await sql`
    insert into alarms (name, message) values (${name}, ${message})
    on conflict (name) do update set message = excluded.message, cleared_at = null,
      raised_at = case when alarms.cleared_at is null then alarms.raised_at else now() end`;
}

/**
 * What kind of alarm a name is of, without whom it concerns, and the chain that it concerns, or ''. A name that says its kind
 * in no way known here is of the kind `other`.
 */
export function alarmKind(name: string): { kind: string; chainId: string } {
  const [head = ''] = name.split(':');
  const kind = head.replace(/-(?:\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]+)(?=-|$)/gi, '');
  const chainId = /^chain-(\d+)(?:-|$)/.exec(head)?.[1] ?? '';
  return { kind: /^[a-z]+(?:[-_][a-z]+)*$/.test(kind) ? kind : 'other', chainId };
}

/** Ends an alarm; nothing happens when it was not raised. */
export async function clearAlarm(sql: Sql | Tx, name: string): Promise<void> {
  await sql`update alarms set cleared_at = now() where name = ${name} and cleared_at is null`;
}

export type Alarm = { name: string; message: string; raised_at: Date; cleared_at: Date | null };

/** The alarms that are raised, the newest first, then those that ended lately. */
export function listAlarms(sql: Sql, limit: number): Promise<Alarm[]> {
  return sql<Alarm[]>`
    select name, message, raised_at, cleared_at from alarms
    order by cleared_at desc nulls first, raised_at desc, name limit ${limit}`;
}
