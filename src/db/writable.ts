import { minuteMs } from '../lib/durations.ts';
import { type Database, type Sql, sqlState } from './connection.ts';
import { diskFull } from './query.ts';

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

/**
 * Whether the server has no room for another megabyte, by a temporary file that it removes again. For a process that
 * has not sent enough statements to know `isFull`. More would itself take the last room from the others.
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
