import type { Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';

/** Whose calls are counted: `subject` is an API key's id, or the partner's own. */
export type Counted = { partnerId: string; subject: string; action: string };

/**
 * The clause that counts a call in its row `counter`. The row's minute never goes back: a call that waited for the row
 * while the minute changed counts in the newer one.
 */
export const countedUp = (sql: Sql): Fragment => sql`
  on conflict (partner_id, subject, action) do update set
    minute = greatest(counter.minute, excluded.minute),
    calls = case when excluded.minute > counter.minute then 1 else counter.calls + 1 end`;

/**
 * Counts a call in the calendar minute of the database's clock, exactly, over all nodes. One statement counts and
 * commits.
 *
 * @returns the calls of this minute, including this one
 */
export async function countCall(sql: Sql, counted: Counted): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    insert into rate_counters as counter (partner_id, subject, action, minute, calls)
    values (${counted.partnerId}, ${counted.subject}, ${counted.action},
      date_trunc('minute', clock_timestamp()), 1)
    ${countedUp(sql)}
    returning calls`;
  if (!row) throw new Error('a call was not counted');
  return row.calls;
}
