import type { Sql, Tx } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import type { Heads } from '../finality.ts';
import type { Hex } from '../rpc.ts';
import type { GasPrice, Offer } from './fees.ts';

/** One of the relayer's addresses on one chain. */
export type Account = { chainId: number; address: Hex };

/** What was learned of an account is not used when it is older than this. */
const staleMs = 5 * minuteMs;
/** After this time another process takes over an account whose pass has not ended. */
const claimMs = 30_000;
/** An account that is late by this much is handled by a node without its key: no node with the key handles it. */
const leftMs = 30_000;

/** How far a chain was read, and the hash of the newest block that was. */
export type ReadHeads = Heads & { hash: string };

/** What the loop last learned of an account. */
export type AccountState = GasPrice & {
  nextNonce: number;
  chainNonce: number;
  balanceWei: bigint;
  /** The most that its calls that are not mined may cost. */
  reservedWei: bigint;
  head: number;
  /** How long ago the chain was asked for the count of mined transactions, and for the balance. */
  countedMs: number;
  checkedMs: number;
  /** Hash of the newest block that the reader had read when the chain was last asked; null before it has begun. */
  seenHash: string | null;
  /** Whether the chain has answered lately. */
  fresh: boolean;
  gap: (Offer & { nonce: number; triedMs: number }) | null;
};

type Row = {
  next_nonce: string;
  chain_nonce: string;
  balance_wei: string;
  reserved_wei: string;
  base_fee_wei: string;
  priority_fee_wei: string;
  head_number: string;
  seen_hash: string | null;
  counted_ms: number;
  checked_ms: number;
  gap_nonce: string | null;
  gap_ms: number | null;
  gap_fee_wei: string | null;
  gap_priority_fee_wei: string | null;
};

const ageMs = (sql: Sql | Tx, time: ReturnType<Sql>) => sql`(extract(epoch from now() - ${time}) * 1000)::float8`;

/** An account as it was last seen; null before the chain has answered for the first time. */
export async function selectAccount(sql: Sql | Tx, { chainId, address }: Account): Promise<AccountState | null> {
  const [row] = await sql<Row[]>`
    select next_nonce, chain_nonce, balance_wei, base_fee_wei, priority_fee_wei, head_number, seen_hash, gap_nonce,
      gap_fee_wei, gap_priority_fee_wei, ${ageMs(sql, sql`counted_at`)} as counted_ms,
      ${ageMs(sql, sql`checked_at`)} as checked_ms, ${ageMs(sql, sql`gap_at`)} as gap_ms,
      (select coalesce(sum(fee_wei), 0) from relay_transactions r where r.chain_id = a.chain_id
        and r.from_address = a.address and r.state in ('allotted', 'sent')) as reserved_wei
    from relay_accounts a where chain_id = ${chainId} and address = ${address}`;
  if (!row) return null;
  return {
    nextNonce: Number(row.next_nonce),
    chainNonce: Number(row.chain_nonce),
    balanceWei: BigInt(row.balance_wei),
    reservedWei: BigInt(row.reserved_wei),
    baseFeeWei: BigInt(row.base_fee_wei),
    priorityFeeWei: BigInt(row.priority_fee_wei),
    head: Number(row.head_number),
    countedMs: row.counted_ms,
    checkedMs: row.checked_ms,
    seenHash: row.seen_hash,
    fresh: row.checked_ms < staleMs,
    gap:
      row.gap_nonce === null
        ? null
        : {
            nonce: Number(row.gap_nonce),
            triedMs: row.gap_ms ?? 0,
            maxFeeWei: BigInt(row.gap_fee_wei ?? 0),
            priorityFeeWei: BigInt(row.gap_priority_fee_wei ?? 0),
          },
  };
}

/** What a chain reports about an account now. */
export type AccountReport = GasPrice & {
  /** How many of its transactions are mined: the lowest and the highest number that an endpoint reports. */
  minNonce: number;
  maxNonce: number;
  /** Whether every endpoint has answered. */
  isComplete: boolean;
  head: number;
};

/** Stores a new account; does nothing if another process was faster. */
export async function insertAccount(
  sql: Sql,
  { chainId, address }: Account,
  seen: AccountReport & { balanceWei: bigint },
  seenHash: string | null,
): Promise<void> {
  await sql`
    insert into relay_accounts (chain_id, address, next_nonce, chain_nonce, balance_wei, base_fee_wei,
      priority_fee_wei, head_number, seen_hash, counted_at, checked_at)
    values (${chainId}, ${address}, ${seen.minNonce}, ${seen.minNonce}, ${seen.balanceWei}, ${seen.baseFeeWei},
      ${seen.priorityFeeWei}, ${seen.head}, ${seenHash}, now(), now())
    on conflict (chain_id, address) do nothing`;
}

/**
 * Stores what a chain reports about an account. The next nonce only rises, and is never below the lowest count, if
 * every endpoint has answered. How many calls may be under way depends on the highest count: an endpoint that is away
 * or stands still must not stop the calls after those that were mined since.
 *
 * @param balanceWei null if it was not requested
 */
export async function updateAccount(
  sql: Sql,
  { chainId, address }: Account,
  seen: AccountReport,
  balanceWei: bigint | null,
  seenHash: string | null,
): Promise<void> {
  await sql`
    update relay_accounts set base_fee_wei = ${seen.baseFeeWei}, priority_fee_wei = ${seen.priorityFeeWei},
      head_number = ${seen.head}, seen_hash = ${seenHash}, counted_at = now(),
      balance_wei = coalesce(${balanceWei}::numeric, balance_wei),
      checked_at = case when ${balanceWei !== null} then now() else checked_at end,
      chain_nonce = ${seen.maxNonce},
      next_nonce = case when ${seen.isComplete} then greatest(next_nonce, ${seen.minNonce}) else next_nonce end
    where chain_id = ${chainId} and address = ${address}`;
}

/** The most nonces that are skipped because they already have a call. */
const maxSkipped = 1_000;

/**
 * Issues the next nonces of an account, and locks the account until the transaction ends. Skips nonces that already
 * have a call, as after a gap was found.
 *
 * @param lookMs when the loop must check the account at the latest
 * @returns this many nonces, rising
 */
export async function takeNonces(
  tx: Tx,
  { chainId, address }: Account,
  count: number,
  lookMs: number,
): Promise<number[]> {
  await tx`select from relay_accounts where chain_id = ${chainId} and address = ${address} for update`;
  const [row] = await tx<{ nonces: string[] }[]>`
    update relay_accounts a set next_nonce = free.last + 1,
      look_at = least(a.look_at, now() + ${lookMs} * interval '1 ms')
    from (
      select array_agg(place::text order by place) as nonces, max(place) as last from (
        select place
        from relay_accounts known, generate_series(known.next_nonce, known.next_nonce + ${maxSkipped + count}) place
        where known.chain_id = ${chainId} and known.address = ${address} and not exists (
          select from relay_transactions r
          where r.chain_id = known.chain_id and r.from_address = known.address and r.nonce = place)
        order by place limit ${count}) places) free
    where a.chain_id = ${chainId} and a.address = ${address} and free.last is not null returning free.nonces`;
  if (row?.nonces.length !== count) throw new Error('the relayer has no account here, or no free nonce');
  return row.nonces.map(Number);
}

/**
 * Goes back to a nonce that was skipped by mistake; the next call gets it. Not if a call was enqueued since the account
 * was read: that one waits behind the gap, so a transfer closes it, and no other call may get a nonce in it.
 */
export async function updateNextNonce(
  sql: Sql,
  { chainId, address }: Account,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await sql`
    update relay_accounts set next_nonce = ${to}
    where chain_id = ${chainId} and address = ${address} and next_nonce = ${from}`;
}

/** Stores the last offer to close a gap; null: there is no gap. */
export async function updateGap(
  sql: Sql,
  { chainId, address }: Account,
  gap: (Offer & { nonce: number }) | null,
): Promise<void> {
  await sql`
    update relay_accounts set gap_nonce = ${gap?.nonce ?? null}, gap_fee_wei = ${gap?.maxFeeWei ?? null},
      gap_priority_fee_wei = ${gap?.priorityFeeWei ?? null}, gap_at = now()
    where chain_id = ${chainId} and address = ${address}`;
}

/** The addresses that have calls under way, which may no longer be configured. */
export async function selectAddresses(sql: Sql, chainId: number): Promise<Hex[]> {
  const rows = await sql<{ address: Hex }[]>`
    select address from relay_accounts a where chain_id = ${chainId} and exists (
      select from relay_transactions r where r.chain_id = a.chain_id and r.from_address = a.address
        and r.state in ('allotted', 'sent', 'mined'))`;
  return rows.map(({ address }) => address);
}

/**
 * Claims an account that is due to be checked; a new account always is.
 *
 * @param newsMs how much earlier it is due if a block was read since the chain was last asked; null: this node lacks
 * the account's key, and leaves it to others until it is late
 */
export async function claimAccount(sql: Sql, { chainId, address }: Account, newsMs: number | null): Promise<boolean> {
  if (newsMs === null) {
    const late = await sql`
      update relay_accounts set look_at = now() + ${claimMs} * interval '1 ms'
      where chain_id = ${chainId} and address = ${address} and look_at <= now() - ${leftMs} * interval '1 ms'
      returning address`;
    return late.length > 0;
  }
  const soon = Math.min(newsMs, claimMs / 2); // news of a block does not end another process's claim
  const [row] = await sql<{ claimed: boolean }[]>`
    with claimed as (
      update relay_accounts set look_at = now() + ${claimMs} * interval '1 ms'
      where chain_id = ${chainId} and address = ${address} and (look_at <= now()
        or (look_at <= now() + ${soon} * interval '1 ms' and seen_hash is distinct from
          (select hash from chain_cursors where chain_id = ${chainId}))) returning address)
    select exists (select from claimed)
      or not exists (select from relay_accounts where chain_id = ${chainId} and address = ${address}) as claimed`;
  return row?.claimed === true;
}

/** Sets when an account is checked again. A call that was enqueued meanwhile may be waiting. */
export async function releaseAccount(
  sql: Sql,
  { chainId, address }: Account,
  { liveMs, idleMs }: { liveMs: number; idleMs: number },
): Promise<void> {
  await sql`
    update relay_accounts a set look_at = now() + interval '1 ms' * case when exists (
      select from relay_transactions r where r.chain_id = a.chain_id and r.from_address = a.address
        and r.state in ('allotted', 'sent', 'mined')) then ${liveMs}::float8 else ${idleMs}::float8 end
    where chain_id = ${chainId} and address = ${address}`;
}

/** How far a chain was read, and the hash of the newest block that was; null before its reader has begun. */
export async function selectHeads(sql: Sql, chainId: number): Promise<ReadHeads | null> {
  type Read = { number: string; hash: string; safe_number: string | null; finalized_number: string | null };
  const [row] = await sql<Read[]>`
    select number, hash, safe_number, finalized_number from chain_cursors where chain_id = ${chainId}`;
  if (!row) return null;
  const orNull = (number: string | null) => (number === null ? null : Number(number));
  const { hash, number, safe_number, finalized_number } = row;
  return {
    hash,
    latest: Number(number),
    safe: orNull(safe_number),
    finalized: orNull(finalized_number),
  };
}
