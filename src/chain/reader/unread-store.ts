import type { Database, Tx } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import type { Log } from '../rpc.ts';
import type { TransferLog } from './blocks.ts';
import type { Unread } from './store.ts';
import type { Owner } from './wallets.ts';

/** A transaction or block that was set aside, and since when. */
export type UnreadRow = {
  block_number: string;
  block_hash: string;
  block_time: Date;
  /** Empty for all logs of the block. */
  tx_hash: string;
  logs: Log[];
  owners: Record<string, Owner>;
  /** It was tried for so long that its transfers are now stored without its calldata and other logs. */
  is_late: boolean;
  /** It has waited so long that it is given up if no endpoint knows it. */
  is_stale: boolean;
};

/** How long to wait for a transaction's calldata and other logs before the operator is told. */
const alarmAfterMs = 2 * minuteMs;
/** How long the alarm about transfers that were stored without it stays raised. */
const alarmFor = '24 hours';
/** How long to ask for a transaction that one endpoint reported and all deny now. */
const soughtFor = '24 hours';
const maxWaitSeconds = 600;

/** Sets a transaction aside, or a whole block if there is no hash; one that is already set aside stays as it is. */
export async function insertUnread(tx: Tx, chainId: number, { block, txHash, logs, owners }: Unread): Promise<void> {
  await tx`
    insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners)
    values (${chainId}, ${block.number}, ${block.hash}, ${block.time}, ${txHash ?? ''}, ${JSON.stringify(logs)},
      ${JSON.stringify(owners)})
    on conflict (chain_id, block_hash, tx_hash) do nothing`;
}

/** Entries of blocks that are no longer on the chain. */
export async function deleteUnreadAfter(tx: Tx, chainId: number, blockNumber: number): Promise<void> {
  await tx`delete from unread_transactions where chain_id = ${chainId} and block_number > ${blockNumber}`;
}

/**
 * Entries due for a retry: those that were tried least, longest due first. So whatever an endpoint invents, it does not
 * delay transactions that have just been set aside.
 */
export function selectUnread(db: Database, chainId: number, limit: number): Promise<UnreadRow[]> {
  return db.sql<UnreadRow[]>`
    select block_number, block_hash, block_time, tx_hash, logs, owners,
      seen_at < now() - ${alarmAfterMs} * interval '1 ms' as is_late,
      seen_at < now() - ${soughtFor}::interval as is_stale
    from unread_transactions where chain_id = ${chainId} and stored_at is null and look_at <= now()
    order by tries, look_at, block_number, tx_hash limit ${limit}`;
}

/**
 * Ends the wait for an entry; false when a reorganisation was faster.
 *
 * @param complete if false, an alarm names it for a day
 */
export async function endUnread(tx: Tx, chainId: number, row: UnreadRow, complete: boolean): Promise<boolean> {
  const own = tx`
    chain_id = ${chainId} and block_hash = ${row.block_hash} and tx_hash = ${row.tx_hash} and stored_at is null`;
  const rows = complete
    ? await tx`delete from unread_transactions where ${own} returning tx_hash`
    : await tx`update unread_transactions set stored_at = now() where ${own} returning tx_hash`;
  return rows.length > 0;
}

/** Schedules a retry after 1, 2, 4 … seconds, at most ten minutes. */
export async function putOffUnread(db: Database, chainId: number, row: UnreadRow): Promise<void> {
  await db.sql`
    update unread_transactions set tries = tries + 1,
      look_at = now() + least(power(2, least(tries, 16)), ${maxWaitSeconds}) * interval '1 second'
    where chain_id = ${chainId} and block_hash = ${row.block_hash} and tx_hash = ${row.tx_hash}`;
}

/** A transaction in its block, as an endpoint reports it. */
export type MinedTransaction = { txHash: string; blockHash: string; blockNumber: number };

/** At most this many per endpoint wait: it can invent any number of them. */
export const maxPerHost = 1_000;

/** Transactions that pay a watched wallet and are to be read again. */
export type Reread = {
  wallet: string;
  transactions: readonly MinedTransaction[];
  /** Blocks after it were read, including those no longer stored; null if that is unknown. */
  sinceBlock: number | null;
  /** Whether more is known to exist, so that they are read again although something is stored for the wallet. */
  isKnown?: boolean;
  /** The endpoint that reports them unasked, if one does. */
  host?: string;
};

/**
 * Sets aside transactions whose block was read although nothing of them is stored for the wallet. They are set aside
 * without logs, because none were read. Their payments to other wallets may be stored already: a provider can return
 * only a part of a transaction. A transaction that was stored without its calldata, and was removed since, is set aside
 * again.
 *
 * @returns how many were set aside that were not before
 */
export async function requestReread(
  { sql }: Database,
  chain: { chainId: number; testMode: boolean },
  { wallet, transactions, sinceBlock, isKnown = false, host }: Reread,
): Promise<number> {
  const { count } = await sql`
    insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners, told_by)
    select c.chain_id, p.number, p.block_hash, coalesce(b.block_time, now()), p.tx_hash, '[]', '{}', ${host ?? null}
    from (select distinct on (tx_hash, block_hash) * from unnest(${transactions.map(({ txHash }) => txHash)}::text[],
        ${transactions.map(({ blockHash }) => blockHash)}::text[],
        ${transactions.map(({ blockNumber }) => blockNumber)}::bigint[]) as named (tx_hash, block_hash, number)
      order by tx_hash, block_hash, number) p
      join chain_cursors c on c.chain_id = ${chain.chainId} and c.number >= p.number
      left join chain_blocks b on b.chain_id = c.chain_id and b.number = p.number
    where case when b.number is null
        then p.number > ${sinceBlock} and p.number < (select min(number) from chain_blocks k where k.chain_id = c.chain_id)
        else b.hash = p.block_hash end
      and (${isKnown} or not exists (
        select from transfers t
        where t.chain_id = c.chain_id and t.tx_hash = p.tx_hash and t.to_address = ${wallet}))
      and not exists (
        select from unread_transactions u
        where u.chain_id = c.chain_id and u.block_hash = p.block_hash and u.tx_hash = '')
      and exists (
        select from watched_wallets w
        where w.test_mode = ${chain.testMode} and w.wallet_address = ${wallet} and w.watch_until > now())
    limit case when ${host ?? null}::text is not null then (
      select greatest(0, ${maxPerHost} - count(*)) from unread_transactions u
      where u.chain_id = ${chain.chainId} and u.stored_at is null and u.told_by = ${host ?? null}) end
    on conflict (chain_id, block_hash, tx_hash) do update
      set logs = excluded.logs, owners = excluded.owners, told_by = excluded.told_by, stored_at = null, seen_at = now(),
        tries = 0, look_at = now()
      where unread_transactions.stored_at is not null`;
  return count;
}

/** A transfer and its position in its block; null if that was not stored. */
export type Placed = TransferLog & { txHash: string; logIndex: number | null; token: string };

/** The stored transfers of these transactions. */
export async function selectPlaced({ sql }: Database, chainId: number, txHashes: readonly string[]): Promise<Placed[]> {
  const rows = await sql<(Omit<Placed, 'value'> & { value: string })[]>`
    select tx_hash as "txHash", log_index as "logIndex", token_address as token, from_address as "from",
      to_address as "to", value
    from transfers where chain_id = ${chainId} and tx_hash = any(${[...txHashes]}::text[])`;
  return rows.map((row) => ({ ...row, value: BigInt(row.value) }));
}

/** Which of these transactions are set aside, and in which block. */
export function selectSetAside({ sql }: Database, chainId: number, txHashes: readonly string[]) {
  return sql<{ txHash: string; blockHash: string }[]>`
    select tx_hash as "txHash", block_hash as "blockHash" from unread_transactions
    where chain_id = ${chainId} and tx_hash = any(${[...txHashes]}::text[])`;
}

/** How far a chain's clock may be behind the database's. */
const clockSlackSeconds = 15;

/**
 * Which of these wallets already had a request when the block that pays them was mined, so that the payment matters. If
 * the block is no longer stored, the wallet counts as one of them.
 */
export function selectAwaited(
  { sql }: Database,
  { chainId, testMode }: { chainId: number; testMode: boolean },
  paid: readonly { wallet: string; blockNumber: number; blockHash: string }[],
) {
  return sql<{ wallet: string; blockHash: string }[]>`
    select p.wallet, p.block_hash as "blockHash"
    from unnest(${paid.map(({ wallet }) => wallet)}::text[], ${paid.map(({ blockHash }) => blockHash)}::text[],
        ${paid.map(({ blockNumber }) => blockNumber)}::bigint[]) as p (wallet, block_hash, number)
      left join chain_blocks b on b.chain_id = ${chainId} and b.number = p.number and b.hash = p.block_hash
    where b.number is null or exists (
      select from watched_wallets w
        join requests r on (r.partner_id, r.test_mode, r.wallet_address) = (w.partner_id, w.test_mode, w.wallet_address)
      where w.test_mode = ${testMode} and w.wallet_address = p.wallet
        and r.created_at <= b.block_time + ${clockSlackSeconds} * interval '1 second')`;
}

/** Hosts of endpoints that report transactions that wait to be read, and how many. */
export function countUnreadByHost({ sql }: Database, chainId: number) {
  return sql<{ host: string; count: number }[]>`
    select told_by as host, count(*)::int as count from unread_transactions
    where chain_id = ${chainId} and stored_at is null and told_by is not null group by told_by`;
}

/** Whether a transaction, or its whole block, waits to be read. */
export async function isSetAside(
  { sql }: Pick<Database, 'sql'>,
  chainId: number,
  { blockHash, txHash }: { blockHash: string; txHash: string },
): Promise<boolean> {
  const rows = await sql`
    select from unread_transactions
    where chain_id = ${chainId} and block_hash = ${blockHash} and tx_hash in (${txHash}, '') and stored_at is null`;
  return rows.length > 0;
}

/** Whether a transaction will still be read: its block has not been reached, or it was set aside. */
export async function isYetToBeRead(
  { sql }: Pick<Database, 'sql'>,
  chainId: number,
  at: MinedTransaction,
): Promise<boolean> {
  const ahead = await sql`select from chain_cursors where chain_id = ${chainId} and number < ${at.blockNumber}`;
  return ahead.length > 0 || (await isSetAside({ sql }, chainId, at));
}

/** How many are set aside, and a few of those that the operator must be told of. */
export async function selectUnreadState(db: Database, chainId: number): Promise<{ count: number; late: string[] }> {
  await db.sql`
    delete from unread_transactions where chain_id = ${chainId} and stored_at < now() - ${alarmFor}::interval`;
  const [row] = await db.sql<{ count: number; late: string[] | null }[]>`
    select count(*)::int as count,
      (array_agg(case tx_hash when '' then 'block ' || block_number else tx_hash end order by seen_at)
        filter (where seen_at < now() - ${alarmAfterMs} * interval '1 ms'))[1:5] as late
    from unread_transactions where chain_id = ${chainId}`;
  return { count: row?.count ?? 0, late: row?.late ?? [] };
}
