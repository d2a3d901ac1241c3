import type { Sql } from './connection.ts';

/** Whether the server accepts changes: not a standby, and not read-only. The service does not work without. */
export async function isWritable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ only_reads: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as only_reads`;
  return row?.only_reads === false;
}
