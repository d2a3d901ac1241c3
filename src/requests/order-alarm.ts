import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import type { Sql } from '../db/connection.ts';
import { modeOf } from '../lib/mode.ts';

const maxNamed = 5;

/**
 * Raises an alarm while the order of a partner's requests is more than a second ahead of the database's real time.
 * Several creates in one millisecond put it ahead only slightly; a larger lead means that the database's clock has
 * jumped.
 */
export async function watchOrder({ db: { sql } }: Pick<Context, 'db'>): Promise<void> {
  const ahead = await selectAhead(sql, maxNamed + 1);
  if (ahead.length === 0) return clearAlarm(sql, 'order_ahead');
  const scopes = ahead.slice(0, maxNamed).map(({ slug, test_mode, last_at }) => {
    return { slug, mode: modeOf(test_mode), until: last_at.toISOString() };
  });
  await raiseAlarm(sql, { kind: 'order_ahead', subject: '', details: { scopes, more: ahead.length > maxNamed } });
}

/** Scopes whose order is more than a second ahead of real time, furthest first. A lookup over all partners. */
function selectAhead(sql: Sql, limit: number): Promise<{ slug: string; test_mode: boolean; last_at: Date }[]> {
  return sql<{ slug: string; test_mode: boolean; last_at: Date }[]>`
    select p.slug, c.test_mode, c.last_at from partner_clocks c join partners p on p.id = c.partner_id
    where c.last_at > clock_timestamp() + interval '1 second' order by c.last_at desc limit ${limit}`;
}
