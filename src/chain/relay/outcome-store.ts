import type { Sql } from '../../db/connection.ts';
import type { Hex } from '../rpc.ts';
import { updateFees } from './budget-store.ts';
import { lockCalls, type RelayRow } from './store.ts';

/** A transaction as the reader has stored it, because it moved money to a merchant. */
export type FoundTransaction = { blockNumber: number; blockHash: string; final: boolean; counts: boolean };

/** Those of these transactions that the reader has found, by hash. */
export async function selectFound(
  sql: Sql,
  chainId: number,
  hashes: readonly string[],
): Promise<Map<string, FoundTransaction>> {
  type Row = { tx_hash: string; block_number: string; block_hash: string; final: boolean; counts: boolean };
  const rows = await sql<Row[]>`
    select tx_hash, min(block_number) as block_number, min(block_hash) as block_hash,
      bool_or(final_at is not null) as final, bool_or(counts) as counts
    from transfers where chain_id = ${chainId} and tx_hash = any(${[...hashes]}::text[]) group by tx_hash`;
  return new Map(
    rows.map(({ tx_hash, block_number, block_hash, final, counts }) => [
      tx_hash,
      { blockNumber: Number(block_number), blockHash: block_hash, final, counts },
    ]),
  );
}

/** Where a variant was mined; `feeWei` is null if it is not known. */
export type Mined = { hash: Hex; blockNumber: number; blockHash: string; succeeded: boolean; feeWei: bigint | null };
/** A reported fee is believed up to this many times the offer: a rollup adds a fee for its own chain. */
const believedFactor = 10n;

/** A call, as it was read before, and where it was found. */
export type MinedCall = { row: RelayRow; mined: Mined };

/** Stores in which blocks calls were found, and what they cost. */
export async function updateMined(sql: Sql, calls: readonly MinedCall[]): Promise<void> {
  if (calls.length === 0) return;
  const ids = calls.map(({ row }) => row.id);
  await sql.begin(async (tx) => {
    await lockCalls(tx, ids);
    const changed = await tx<{ id: string }[]>`
      update relay_transactions r set state = 'mined', hash = k.hash, block_number = k.block_number,
        block_hash = k.block_hash, succeeded = k.succeeded, passed_block = null, trouble = null, refused_at = null
      from unnest(${ids}::uuid[], ${calls.map(({ mined }) => mined.hash)}::text[],
          ${calls.map(({ mined }) => mined.blockNumber)}::bigint[],
          ${calls.map(({ mined }) => mined.blockHash)}::text[], ${calls.map(({ mined }) => mined.succeeded)}::boolean[])
        as k (id, hash, block_number, block_hash, succeeded)
      where r.id = k.id and r.state in ('sent', 'mined') returning r.id`;
    const kept = new Set(changed.map(({ id }) => id));
    const costs = calls.flatMap(({ row, mined: { feeWei } }) => {
      if (feeWei === null || row.state === 'mined' || !kept.has(row.id)) return [];
      const ceiling = BigInt(row.fee_wei) * believedFactor;
      return [{ id: row.id, feeWei: feeWei < ceiling ? feeWei : ceiling }];
    });
    await updateFees(tx, costs);
  });
}

/** Undoes that a call was mined: its block is no longer on the chain. */
export async function updateGone(sql: Sql, id: string): Promise<void> {
  await sql`
    update relay_transactions set state = 'sent', block_number = null, block_hash = null, succeeded = null,
      reached = false, sent_at = now(), tried_at = null, passed_block = null
    where id = ${id} and state = 'mined'`;
}

/** Stores at which head the nonces of calls were found used without any variant being found. */
export async function updatePassed(sql: Sql, ids: readonly string[], head: number | null): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update relay_transactions set passed_block = ${head}
    where id = any(${[...ids]}::uuid[]) and state in ('allotted', 'sent')`;
}

/** Stores the head at which calls were sent. */
export async function updateSentHead(sql: Sql, ids: readonly string[], head: number): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update relay_transactions set sent_head = ${head} where id = any(${[...ids]}::uuid[]) and state = 'sent'`;
}

/** Ends mined calls for good; what they cost is stored already. */
export async function updateEnded(
  sql: Sql,
  ids: readonly string[],
  state: 'final' | 'reverted' | 'lost',
): Promise<void> {
  if (ids.length === 0) return;
  await sql.begin(async (tx) => {
    await lockCalls(tx, ids);
    await tx`
      update relay_transactions set state = ${state}, ended_at = now()
      where id = any(${[...ids]}::uuid[]) and state in ('allotted', 'sent', 'mined')`;
  });
}

/**
 * Ends a call for good of which no variant was mined. It costs nothing. A call that was signed, or signed again, since
 * it was read is left alone, because the endpoints were not asked about its newest variant.
 */
export async function updateLost(sql: Sql, { id, hash }: Pick<RelayRow, 'id' | 'hash'>): Promise<void> {
  await sql.begin(async (tx) => {
    await lockCalls(tx, [id]);
    const { count } = await tx`
      update relay_transactions set state = 'lost', ended_at = now()
      where id = ${id} and state in ('allotted', 'sent') and hash is not distinct from ${hash}`;
    if (count > 0) await updateFees(tx, [{ id, feeWei: 0n }]);
  });
}
