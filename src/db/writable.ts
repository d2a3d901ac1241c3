import type { Sql } from './connection.ts';

/** False on a standby, and on a server that was made read-only: nothing of the service works there. */
export async function isWritable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ only_reads: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as only_reads`;
  return row?.only_reads === false;
}
