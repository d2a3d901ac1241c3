import type { Sql } from '../db/connection.ts';

/** Scopes whose clock is more than a second ahead of real time, furthest first. A lookup over all partners. */
export function selectAhead(sql: Sql, limit: number): Promise<{ slug: string; test_mode: boolean; last_at: Date }[]> {
  return sql<{ slug: string; test_mode: boolean; last_at: Date }[]>`
    select p.slug, c.test_mode, c.last_at from partner_clocks c join partners p on p.id = c.partner_id
    where c.last_at > clock_timestamp() + interval '1 second' order by c.last_at desc limit ${limit}`;
}
