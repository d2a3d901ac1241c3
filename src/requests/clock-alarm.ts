import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { modeOf } from '../lib/mode.ts';
import { selectAhead } from './clock-store.ts';

const maxNamed = 5;

/**
 * Raises an alarm while a partner's clock, which orders its requests, is more than a second ahead of the database's
 * real time. Several creates in one millisecond put it ahead only slightly; a larger lead means that the database's
 * clock has jumped.
 */
export async function watchPartnerClocks({ db: { sql } }: Pick<Context, 'db'>): Promise<void> {
  const ahead = await selectAhead(sql, maxNamed + 1);
  if (ahead.length === 0) return clearAlarm(sql, 'order_ahead');
  const scopes = ahead.slice(0, maxNamed).map(({ slug, test_mode, last_at }) => {
    return { slug, mode: modeOf(test_mode), until: last_at.toISOString() };
  });
  await raiseAlarm(sql, { kind: 'order_ahead', subject: '', details: { scopes, more: ahead.length > maxNamed } });
}
