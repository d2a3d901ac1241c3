import { minuteMs } from '../lib/durations.ts';
import { type Database, type Sql, sqlState } from './connection.ts';
import { diskFull } from './query.ts';

/**
 * How long a disk counts as full after the last statement that failed because of it: many statements need no new room.
 */
const fullMs = 5 * minuteMs;

/**
 * Whether a disk of the server is full, or was a moment ago. A statement that only changes a row in its place still
 * succeeds then, so some calls work, and `isWritable` is true.
 */
export const isFull = ({ disk }: Database): boolean => performance.now() - disk.fullAtMs < fullMs;

/** Whether the server accepts changes: not a standby, and not read-only. The service does not work without. */
export async function isWritable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ only_reads: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as only_reads`;
  return row?.only_reads === false;
}

/**
 * Whether the server has no room for another megabyte. It tries this with a temporary file, which the server removes
 * again. For a process that has not sent enough statements for `isFull` to be known. A larger file could itself use up
 * the last room.
 */
export async function lacksRoom({ transaction }: Database): Promise<boolean> {
  try {
    await transaction(async (tx) => {
      await tx`set local work_mem = '64kB'`; // what fits into it stays in memory
      await tx`with filler as materialized (select n from generate_series(1, 30000) as n) select count(*) from filler`;
    });
    return false;
  } catch (error) {
    if (sqlState(error) === diskFull) return true;
    throw error;
  }
}
