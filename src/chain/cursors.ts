import type { Sql, Tx } from '../db/connection.ts';
import type { Statement } from '../db/sql.ts';

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

/** When a chain was last read, and whether that was longer ago than asked. */
export type ReadState = { chain_id: string; number: string; updated_at: Date; silent: boolean };

/**
 * The read states of these chains; null for all that were ever read.
 *
 * @param silentMs a chain is silent if nothing was read for longer
 */
export function selectReadStates(sql: Sql, silentMs: number, chainIds: number[] | null): Statement<ReadState[]> {
  return sql<ReadState[]>`
    select chain_id, number, updated_at, updated_at < now() - ${silentMs} * interval '1 ms' as silent
    from chain_cursors where ${chainIds}::bigint[] is null or chain_id = any(${chainIds}::bigint[])`;
}

/** For metrics: how far each chain's reader is behind its provider's head, and how old the last block read is. */
export async function selectLags(sql: Sql): Promise<{ chainId: string; blocks: number; ageSeconds: number }[]> {
  const rows = await sql<{ chain_id: string; lag: string; age: number }[]>`
    select chain_id, head_number - number as lag, extract(epoch from now() - block_time)::float8 as age
    from chain_cursors`;
  return rows.map(({ chain_id, lag, age }) => ({ chainId: chain_id, blocks: Number(lag), ageSeconds: age }));
}
