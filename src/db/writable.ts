import { minuteMs } from '../lib/durations.ts';
import type { Database, Sql } from './connection.ts';

/** How long a full disk counts after the last statement that failed for it: many statements need no new room. */
const fullMs = 5 * minuteMs;

/**
 * Whether a disk of the server is or was just full. What only changes a row in its place still succeeds then, so
 * calls work now and then, and `isWritable` holds.
 */
export const isFull = ({ room }: Database): boolean => performance.now() - room.fullAtMs < fullMs;

/** Whether the server accepts changes: not a standby, and not read-only. The service does not work without. */
export async function isWritable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ only_reads: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as only_reads`;
  return row?.only_reads === false;
}
