import type { Sql } from '../../db/connection.ts';
import type { Heads } from '../finality.ts';
import type { Hex } from '../rpc.ts';
import type { RelayRow } from './store.ts';

export { selectLive, upsertAccount } from './store.ts';

type Account = { chainId: number; address: Hex };

/** After this time another process looks at an account whose pass has not ended. */
const claimMs = 20_000;

/** The addresses that have calls under way, which may no longer be configured. */
export async function selectAddresses(sql: Sql, chainId: number): Promise<Hex[]> {
  const rows = await sql<{ address: Hex }[]>`
    select address from relay_accounts a where chain_id = ${chainId} and exists (
      select from relay_transactions r where r.chain_id = a.chain_id and r.from_address = a.address
        and r.state in ('allotted', 'sent', 'mined'))`;
  return rows.map(({ address }) => address);
}

/** Whether an account is to be looked at now, and by us. An account that is not known yet is. */
export async function claimAccount(sql: Sql, { chainId, address }: Account): Promise<boolean> {
  const [row] = await sql<{ claimed: boolean }[]>`
    with claimed as (
      update relay_accounts set look_at = now() + ${claimMs} * interval '1 ms'
      where chain_id = ${chainId} and address = ${address} and look_at <= now() returning address)
    select exists (select from claimed)
      or not exists (select from relay_accounts where chain_id = ${chainId} and address = ${address}) as claimed`;
  return row?.claimed === true;
}

/** Says when an account is looked at again. */
export async function releaseAccount(sql: Sql, { chainId, address }: Account, afterMs: number): Promise<void> {
  await sql`
    update relay_accounts set look_at = now() + ${afterMs} * interval '1 ms'
    where chain_id = ${chainId} and address = ${address}`;
}

/** A transaction as the reader has stored it, because it moved money to a merchant. */
export type Found = { hash: Hex; blockNumber: number; blockHash: string; final: boolean; counts: boolean };

/** Those of these transactions that the reader has found. */
export async function selectFound(sql: Sql, chainId: number, hashes: readonly string[]): Promise<Map<string, Found>> {
  const rows = await sql<{ tx_hash: Hex; block_number: string; block_hash: string; final: boolean; counts: boolean }[]>`
    select tx_hash, min(block_number) as block_number, min(block_hash) as block_hash,
      bool_or(final_at is not null) as final, bool_or(counts) as counts
    from transfers where chain_id = ${chainId} and tx_hash = any(${[...hashes]}::text[]) group by tx_hash`;
  return new Map(
    rows.map((row) => [
      row.tx_hash,
      {
        hash: row.tx_hash,
        blockNumber: Number(row.block_number),
        blockHash: row.block_hash,
        final: row.final,
        counts: row.counts,
      },
    ]),
  );
}

/** Where a call was mined; `feeWei` where it is known. */
export type Mined = { hash: Hex; blockNumber: number; blockHash: string; succeeded: boolean; feeWei: bigint | null };

/** Keeps in which block a call was found. */
export async function updateMined(sql: Sql, row: RelayRow, mined: Mined): Promise<void> {
  await sql.begin(async (tx) => {
    const changed = await tx<{ fee_wei: string }[]>`
      update relay_transactions set state = 'mined', hash = ${mined.hash}, block_number = ${mined.blockNumber},
        block_hash = ${mined.blockHash}, succeeded = ${mined.succeeded}, mined_at = coalesce(mined_at, now()),
        passed_block = null, trouble = null
      where id = ${row.id} and state in ('sent', 'mined') returning fee_wei`;
    const [before] = changed;
    if (!before || mined.feeWei === null || mined.feeWei === BigInt(row.fee_wei)) return;
    await tx`update relay_transactions set fee_wei = ${mined.feeWei} where id = ${row.id}`;
    await tx`
      update relay_spending s set wei = greatest(0, s.wei + ${mined.feeWei - BigInt(row.fee_wei)})
      from relay_transactions r where r.id = ${row.id} and s.partner_id = r.partner_id and s.test_mode = r.test_mode
        and s.chain_id = r.chain_id and s.day = r.day`;
  });
}

/** Ends a call for good. */
export async function updateEnded(sql: Sql, id: string, state: 'final' | 'reverted' | 'lost'): Promise<void> {
  await sql`
    update relay_transactions set state = ${state}, ended_at = now()
    where id = ${id} and state in ('allotted', 'sent', 'mined')`;
}

/** How far a chain was read; null before its reader has begun. */
export async function selectHeads(sql: Sql, chainId: number): Promise<Heads | null> {
  const [row] = await sql<{ number: string; safe_number: string | null; finalized_number: string | null }[]>`
    select number, safe_number, finalized_number from chain_cursors where chain_id = ${chainId}`;
  const orNull = (number: string | null) => (number === null ? null : Number(number));
  return row
    ? { latest: Number(row.number), safe: orNull(row.safe_number), finalized: orNull(row.finalized_number) }
    : null;
}
