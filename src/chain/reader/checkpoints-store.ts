import type { Database, Tx } from '../../db/connection.ts';
import { insertion } from '../../db/sql.ts';
import { dayMs } from '../../lib/durations.ts';
import type { Header } from '../rpc.ts';
import type { Cursor } from './store.ts';

/** The distance between two checkpoints, in blocks. */
const apart = 1_024;
/** A request is open for at most 30 days, and a payment counts for half an hour longer. */
const keptMs = 31 * dayMs;

/** The checkpoints among these blocks, in their order. */
export const checkpointsIn = (headers: readonly Header[]) => headers.filter(({ number }) => number % apart === 0);

/** Stores checkpoints, and deletes those that are too old to matter. */
export async function insertCheckpoints(tx: Tx, chainId: number, headers: readonly Header[]): Promise<void> {
  const newest = headers.at(-1);
  if (!newest) return;
  const rows = headers.map(({ number, hash, time }) => ({ chain_id: chainId, number, hash, block_time: time }));
  await tx`
    insert into chain_checkpoints ${insertion(rows)} on conflict (chain_id, number) do update
      set hash = excluded.hash, block_time = excluded.block_time`;
  await tx`
    delete from chain_checkpoints
    where chain_id = ${chainId} and block_time < ${new Date(newest.time.getTime() - keptMs)}`;
}

/** Forgets the checkpoints after a block, which are not on the chain any more. */
export async function deleteCheckpointsAfter(tx: Tx, chainId: number, number: number): Promise<void> {
  await tx`delete from chain_checkpoints where chain_id = ${chainId} and number > ${number}`;
}

/** The newest stored block or checkpoint up to a number; null if there is none. */
export async function selectKnownBlock(db: Database, chainId: number, upTo: number): Promise<Cursor | null> {
  const [row] = await db.sql<{ number: string; hash: string }[]>`
    (select number, hash from chain_blocks where chain_id = ${chainId} and number <= ${upTo}
      order by number desc limit 1)
    union all
    (select number, hash from chain_checkpoints where chain_id = ${chainId} and number <= ${upTo}
      order by number desc limit 1)
    order by number desc limit 1`;
  return row ? { number: Number(row.number), hash: row.hash } : null;
}
