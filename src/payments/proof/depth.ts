import type { Context } from '../../context.ts';
import type { Sql } from '../../db/connection.ts';

/** Operators: how many transfers wait to be matched, over all chains; counted up to `max`. */
export const matchingDepth = (ctx: Context, max: number) => selectMatchingDepth(ctx.db.sql, max);

/** How many transfers are not matched yet, at most `max`, and the time of the oldest one's block. */
export async function selectMatchingDepth(sql: Sql, max: number): Promise<{ waiting: number; oldest: Date | null }> {
  const [row] = await sql<{ waiting: number; oldest: Date | null }[]>`
    select count(*)::int as waiting, min(block_time) as oldest from (
      select block_time from transfers where judged_at is null limit ${max}) w`;
  return row ?? { waiting: 0, oldest: null };
}
