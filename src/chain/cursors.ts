import type { Sql, Tx } from '../db/connection.ts';

/** How far a chain was read, as the watcher keeps it. */
export type CursorRow = {
  chain_id: string;
  number: string;
  block_time: Date;
  safe_number: string | null;
  finalized_number: string | null;
};

/** How far these chains were read; a chain that was never read is missing. */
export async function selectCursors(sql: Sql | Tx, chainIds: number[]): Promise<CursorRow[]> {
  return sql<CursorRow[]>`
    select chain_id, number, block_time, safe_number, finalized_number from chain_cursors
    where chain_id = any(${chainIds}::bigint[])`;
}
