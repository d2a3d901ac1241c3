import type { Database, Tx } from '../../db/connection.ts';
import type { Lease } from './lease.ts';

/** Blocks that were read without a token that is read now: those after `after`, up to `to`. */
export type Gap = { token: string; after: number; to: number };

type GapRow = { token: string; after: string; to: string };
const toGap = ({ token, after, to }: GapRow): Gap => ({ token, after: Number(after), to: Number(to) });

/** Checkpoints are kept for longer than requests are open, so nothing paid before the oldest one is searched. */
const notBefore = (tx: Tx, chainId: number) =>
  tx`coalesce((select min(number) from chain_checkpoints where chain_id = ${chainId}), 0) - 1`;

/**
 * Notes in which mode a chain is read from now on. If it was read in the other one meanwhile, that counts as if all its
 * tokens had been missing.
 */
async function noteMode(tx: Tx, chainId: number, testMode: boolean): Promise<void> {
  await tx`
    insert into chain_modes (chain_id, test_mode) values (${chainId}, ${testMode}) on conflict do nothing`;
  await tx`
    update chain_modes m set left_at = c.number from chain_cursors c
    where m.chain_id = ${chainId} and m.test_mode <> ${testMode} and m.left_at is null and c.chain_id = m.chain_id`;
  await tx`
    with back as (
      update chain_modes m set left_at = null from chain_modes before
      where (m.chain_id, m.test_mode) = (${chainId}, ${testMode}) and m.left_at is not null
        and (before.chain_id, before.test_mode) = (m.chain_id, m.test_mode)
      returning before.left_at)
    update tokens_read t set left_at = least(t.left_at, back.left_at), back_at = null
    from back where t.chain_id = ${chainId}`;
}

/**
 * Notes, for the holder of a chain's lease and before it reads, with which tokens it reads from now on, and in which
 * mode.
 *
 * @returns the tokens that are no longer read, each with the last block that was read with it, and the gaps of tokens
 * that are read again
 */
export function noteTokens(
  db: Database,
  { chainId, testMode }: { chainId: number; testMode: boolean },
  lease: Lease,
  tokens: readonly string[],
): Promise<{ left: { token: string; at: number }[]; gaps: Gap[] }> {
  return db.transaction(async (tx) => {
    // A later holder first raises the fence of this row. Until then it waits, so its tokens are noted after these.
    await tx`select from chain_cursors where chain_id = ${chainId} for update`;
    const held = await tx`select from leases where name = ${lease.name} and fence = ${lease.fence}`;
    if (held.length === 0) return { left: [], gaps: [] };
    await tx`
      insert into tokens_read (chain_id, token_address) select ${chainId}, unnest(${[...tokens]}::text[])
      on conflict do nothing`;
    await noteMode(tx, chainId, testMode);
    const left = await tx<{ token: string; at: string }[]>`
      update tokens_read t set left_at = coalesce(t.left_at, c.number), back_at = null from chain_cursors c
      where t.chain_id = ${chainId} and c.chain_id = t.chain_id and t.token_address <> all(${[...tokens]}::text[])
        and (t.left_at is null or t.back_at is not null)
      returning t.token_address as token, t.left_at as at`;
    const gaps = await tx<GapRow[]>`
      update tokens_read t set left_at = greatest(t.left_at, ${notBefore(tx, chainId)}), back_at = c.number
      from chain_cursors c
      where t.chain_id = ${chainId} and c.chain_id = t.chain_id and t.token_address = any(${[...tokens]}::text[])
        and t.left_at is not null and t.back_at is null
      returning t.token_address as token, t.left_at as after, t.back_at as "to"`;
    return { left: left.map(({ token, at }) => ({ token, at: Number(at) })), gaps: gaps.map(toGap) };
  });
}

/** A gap that is not searched through; null if there is none. */
export async function selectGap({ sql }: Database, chainId: number): Promise<Gap | null> {
  const [row] = await sql<GapRow[]>`
    select token_address as token, left_at as after, back_at as "to" from tokens_read
    where chain_id = ${chainId} and back_at is not null order by token_address limit 1`;
  return row ? toGap(row) : null;
}

/** Notes up to which block a gap was searched, unless it has changed meanwhile. */
export async function shortenGap({ sql }: Database, chainId: number, gap: Gap, upTo: number): Promise<void> {
  const isDone = upTo >= gap.to;
  await sql`
    update tokens_read set left_at = ${isDone ? null : upTo}, back_at = ${isDone ? null : gap.to}
    where chain_id = ${chainId} and token_address = ${gap.token} and left_at = ${gap.after} and back_at = ${gap.to}`;
}

/** After a reorganisation: what was read with a missing token, or in a former mode, may be read again without it. */
export async function widenGaps(tx: Tx, chainId: number, ancestor: number): Promise<void> {
  await tx`update tokens_read set left_at = ${ancestor} where chain_id = ${chainId} and left_at > ${ancestor}`;
  await tx`update chain_modes set left_at = ${ancestor} where chain_id = ${chainId} and left_at > ${ancestor}`;
}

/** How many transactions of a chain wait to be read for the first time since they were set aside. */
export async function countUntried({ sql }: Database, chainId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from unread_transactions
    where chain_id = ${chainId} and stored_at is null and tries = 0`;
  return row?.count ?? 0;
}
