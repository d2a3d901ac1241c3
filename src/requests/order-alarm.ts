import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { modeOf } from '../lib/mode.ts';
import { selectAhead } from './order-store.ts';

const mostNamed = 5;

/**
 * Raises an alarm while the order of a partner's requests runs more than a second ahead of the database's real time. More
 * than one create in a millisecond brings it ahead by so little only: beyond that, the database's clock has jumped.
 */
export async function watchOrder({ db: { sql } }: Pick<Context, 'db'>): Promise<void> {
  const ahead = await selectAhead(sql, mostNamed + 1);
  if (ahead.length === 0) return clearAlarm(sql, 'order_ahead');
  const scopes = ahead.slice(0, mostNamed).map(({ slug, test_mode, last_at }) => {
    return { slug, mode: modeOf(test_mode), until: last_at.toISOString() };
  });
  await raiseAlarm(sql, { kind: 'order_ahead', subject: '', details: { scopes, more: ahead.length > mostNamed } });
}
