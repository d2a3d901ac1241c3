import type { Sql } from '../db/connection.ts';

/** Whose calls are counted: `subject` is an API key's id, or the partner's own. */
export type Counted = { partnerId: string; subject: string; action: string };

/**
 * Counts a call in the calendar minute of the database's clock, exactly, over all nodes. One statement counts and
 * commits. A call that waited for the row while the minute changed counts in the newer minute.
 *
 * @returns the calls of this minute, including this one
 */
export async function countCall(sql: Sql, counted: Counted): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    insert into rate_counters as counter (partner_id, subject, action, minute, calls)
    values (${counted.partnerId}, ${counted.subject}, ${counted.action},
      date_trunc('minute', clock_timestamp()), 1)
    on conflict (partner_id, subject, action) do update set
      minute = greatest(counter.minute, excluded.minute),
      calls = case when excluded.minute > counter.minute then 1 else counter.calls + 1 end
    returning calls`;
  if (!row) throw new Error('a call was not counted');
  return row.calls;
}
