import type { Sql } from './connection.ts';

/** A query for the earliest time at which a queue has work: one row or none, null for never. */
export type Due = (sql: Sql) => ReturnType<Sql>;

/**
 * Checks several queues in one statement.
 *
 * @returns for each queue the milliseconds until work is due: 0 or less if it is due now, null if nothing waits
 */
export async function readWaits(sql: Sql, dues: readonly Due[]): Promise<(number | null)[]> {
  if (dues.length === 0) return [];
  const times = dues.map((due) => sql`(${due(sql)})`).reduce((all, one) => sql`${all}, ${one}`);
  const rows = await sql<{ wait_ms: number | null }[]>`
    select (extract(epoch from due - now()) * 1000)::float8 as wait_ms
    from unnest(array[${times}]::timestamptz[]) with ordinality as queues (due, place) order by place`;
  return rows.map(({ wait_ms }) => wait_ms);
}
