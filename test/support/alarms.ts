import { alarmName, alarmSentence } from '../../src/db/alarm-kinds.ts';
import { listAlarms } from '../../src/db/alarms.ts';
import type { Sql } from '../../src/db/connection.ts';

/** The sentences of all raised alarms, by alarm name. */
export async function raisedAlarms(sql: Sql): Promise<Map<string, string>> {
  const raised = (await listAlarms(sql, 1000)).filter(({ cleared_at }) => cleared_at === null);
  return new Map(raised.map((alarm) => [alarmName(alarm), alarmSentence(alarm)]));
}
