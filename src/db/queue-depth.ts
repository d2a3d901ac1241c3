import type { Sql } from './connection.ts';
import type { Fragment } from './sql.ts';

/** How much waits in a queue, and since when the oldest of it has; null if nothing waits. */
export type QueueDepth = { waiting: number; oldest: Date | null };

/**
 * Counts what waits, up to `max`; `oldest` is the oldest of what was counted.
 *
 * @param waiting selects the rows that wait, with the column `since`
 */
export async function queueDepth(sql: Sql, waiting: Fragment, max: number): Promise<QueueDepth> {
  const [row] = await sql<QueueDepth[]>`
    select count(*)::int as waiting, min(since) as oldest from (${waiting} limit ${max}) w`;
  return row ?? { waiting: 0, oldest: null };
}
