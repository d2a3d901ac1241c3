import type { Context } from '../../context.ts';
import type { Sql } from '../../db/connection.ts';

/** Operators: how many transfers wait to be matched, over all chains; counted up to `most`. */
export const matchingDepth = (ctx: Context, most: number) => selectMatchingDepth(ctx.db.sql, most);

/** How many transfers are not matched yet, at most `most`, and the time of the oldest one's block. */
export async function selectMatchingDepth(sql: Sql, most: number): Promise<{ waiting: number; oldest: Date | null }> {
  const [row] = await sql<{ waiting: number; oldest: Date | null }[]>`
    select count(*)::int as waiting, min(block_time) as oldest from (
      select block_time from transfers where judged_at is null limit ${most}) w`;
  return row ?? { waiting: 0, oldest: null };
}
