import { finalNumbers, type Heads } from '../chain/finality.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Database, Sql, Tx } from '../db/connection.ts';
import { dueSince, type Since } from '../db/due.ts';
import type { Fragment } from '../db/sql.ts';
import { minuteMs } from '../lib/durations.ts';
import type { TransferRow } from './transfers.ts';

/** How many rows of one merchant a pass considers. Its requests take turns among these. */
const maxPending = 200;
const maxUnsettled = 500;

/**
 * The merchants with waiting rows, found one by one, so that the cost does not grow with the number of rows of each.
 */
const merchantsWith = (sql: Sql, waiting: Fragment) => sql`
  merchants_with as (
    (select partner_id, account_id from transfers where ${waiting} order by partner_id, account_id limit 1)
    union all
    select n.partner_id, n.account_id from merchants_with w cross join lateral (
      select partner_id, account_id from transfers
      where ${waiting} and (partner_id, account_id) > (w.partner_id, w.account_id)
      order by partner_id, account_id limit 1) n
  )`;

/**
 * Alternates between partners, within a partner between merchants, and within a merchant between requests. Each
 * request's transfers stay in order.
 */
const inTurns = (sql: Sql, due: Fragment, limit: number) => {
  const place = sql`look_at, block_number, tx_hash, ordinal`;
  return sql`
    select * from (
      select *, row_number() over (partition by partner_id order by of_merchant, ${place}) as turn
      from (
        select *, row_number() over (partition by partner_id, account_id order by of_request, ${place}) as of_merchant
        from (
          select *, row_number() over (partition by partner_id, account_id, request_id order by ${place}) as of_request
          from (${due}) due) requests_own) own) taken
    order by turn, ${place} limit ${limit}`;
};

/**
 * The loop's lookup over all partners: transfers that are not matched yet, partners and merchants in turns, oldest
 * first. What was read while the chain was of the other mode waits until it is again.
 */
export async function selectPending(
  db: Database,
  { chainId, testMode }: { chainId: number; testMode: boolean },
  limit: number,
  since: Since,
): Promise<TransferRow[]> {
  const { sql } = db;
  const waiting = sql`
    chain_id = ${chainId} and test_mode = ${testMode} and judged_at is null ${dueSince(sql, sql`look_at`, since)}`;
  const due = sql`
    select t.* from merchants_with w cross join lateral (
      select * from transfers
      where ${waiting} and partner_id = w.partner_id and account_id = w.account_id and look_at <= now()
      order by look_at, block_number, ordinal limit ${maxPending}) t`;
  return sql<TransferRow[]>`
    with recursive ${merchantsWith(sql, waiting)} ${inTurns(sql, due, limit)}`;
}

/**
 * The loop's lookup over all partners: transfers that count, are not marked as final, and are in a block that is final
 * for an amount like their request's. Partners, merchants and requests in turn. As in `selectPending`, only those of
 * the chain's mode.
 */
export async function selectUnsettled(
  db: Database,
  { chainId, finality, testMode }: Pick<ChainConfig, 'chainId' | 'finality'> & { testMode: boolean },
  heads: Heads,
  limit: number,
  since: Since,
): Promise<(TransferRow & { usdc_micro: string })[]> {
  const { sql } = db;
  const finals = finalNumbers(finality, heads);
  // By the lowest finality, whatever the amount: so the rows of merchants without any final block are not read at all.
  const waiting = sql`
    chain_id = ${chainId} and test_mode = ${testMode} and counts and final_at is null
    and block_number <= ${Math.max(...finals)} ${dueSince(sql, sql`look_at`, since)}`;
  const due = sql`
    select d.* from merchants_with w cross join lateral (
      select t.*, r.usdc_micro from transfers t
        join requests r on (r.partner_id, r.test_mode, r.id) = (t.partner_id, t.test_mode, t.request_id)
      where t.chain_id = ${chainId} and t.counts and t.final_at is null
        and t.partner_id = w.partner_id and t.account_id = w.account_id and t.look_at <= now()
        ${dueSince(sql, sql`t.look_at`, since)} and t.block_number <= (
          select final_number from tiers where up_to is null or r.usdc_micro <= up_to order by place limit 1)
      order by t.look_at, t.block_number, t.ordinal limit ${maxUnsettled}) d`;
  return sql<(TransferRow & { usdc_micro: string })[]>`
    with recursive tiers as (
      select * from unnest(
          ${finality.map(({ upToUsdcMicro }) => upToUsdcMicro?.toString() ?? null)}::numeric[],
          ${finals}::bigint[])
        with ordinality as tier (up_to, final_number, place)
    ), ${merchantsWith(sql, waiting)} ${inTurns(sql, due, limit)}`;
}

/** The longest wait before a transfer is checked again. */
const maxWaitSeconds = 60;
/** The highest count of checks that found a transfer confirmed but not final: doubts begin with higher ones. */
const maxYoungLooks = 3;

const keysOf = ({ sql }: Database, rows: readonly TransferRow[]) => sql`
  select * from unnest(${rows.map((row) => row.chain_id)}::bigint[], ${rows.map((row) => row.tx_hash)}::text[],
    ${rows.map((row) => row.ordinal)}::int[])`;

/**
 * Counts a check of these transfers, of all partners of a chain, and sets the time of the next check.
 *
 * @param still the condition that they must still meet; others, and those that somebody has locked, are left alone
 * @param next the new count, and the wait in seconds, of a transfer `t`
 */
async function postponeWhile(
  db: Database,
  rows: readonly TransferRow[],
  still: 'pending' | 'unsettled',
  next: { looks: Fragment; seconds: Fragment },
): Promise<void> {
  if (rows.length === 0) return;
  const { sql } = db;
  await sql`
    update transfers t set looks = ${next.looks}, look_at = now() + ${next.seconds} * interval '1 second'
    from (
      select chain_id, tx_hash, ordinal from transfers
      where ${still === 'pending' ? sql`judged_at is null` : sql`counts and final_at is null`}
        and (chain_id, tx_hash, ordinal) in (${keysOf(db, rows)})
      for update skip locked) late
    where (t.chain_id, t.tx_hash, t.ordinal) = (late.chain_id, late.tx_hash, late.ordinal)`;
}

/** Postpones transfers: by 1, 2, 4 … seconds, at most a minute. */
export const postpone = (db: Database, rows: readonly TransferRow[], still: 'pending' | 'unsettled') =>
  postponeWhile(db, rows, still, {
    looks: db.sql`t.looks + 1`,
    seconds: db.sql`least(power(2, least(t.looks, 16)), ${maxWaitSeconds})`,
  });

/**
 * Postpones transfers that count by one second, however often this happens: an endpoint that is down says nothing about
 * them.
 */
export const postponeBriefly = (db: Database, rows: readonly TransferRow[]) =>
  postponeWhile(db, rows, 'unsettled', { looks: db.sql`greatest(t.looks, 1)`, seconds: db.sql`1` });

/**
 * Postpones transfers that all endpoints confirm, though one does not see their block as final yet: by 1, 2, 4 …
 * seconds, at most 8. However long that takes, they are not doubted.
 */
export const postponeYoung = (db: Database, rows: readonly TransferRow[]) =>
  postponeWhile(db, rows, 'unsettled', {
    looks: db.sql`least(t.looks + 1, ${maxYoungLooks})`,
    seconds: db.sql`power(2, least(t.looks, ${maxYoungLooks}))`,
  });

/**
 * The lowest block of a chain with a transfer that counts and is not final; null if there is none.
 *
 * @param which `postponed`: only those that could not be confirmed in an earlier attempt
 */
export async function selectLowestUnsettled(
  { sql }: Database,
  chainId: number,
  which: 'postponed' | 'all',
): Promise<number | null> {
  // Materialized: a plan that goes through the chain's blocks from the lowest on would first read all that are final.
  const [row] = await sql<{ block: string | null }[]>`
    with unsettled as materialized (
      select block_number from transfers
      where chain_id = ${chainId} and counts and final_at is null ${which === 'postponed' ? sql`and looks > 0` : sql``}
    ) select min(block_number) as block from unsettled`;
  return row?.block ? Number(row.block) : null;
}

/**
 * A transfer that is denied this often in a row, for this long, is removed. The time matters because parallel checks
 * each count one.
 */
export const deniedChecks = 8;
const deniedMs = 2 * minuteMs;

/** Counts a check in which all endpoints denied a transfer; a check with another result resets the count. */
export async function countDenials(db: Database, rows: readonly TransferRow[], denied: boolean): Promise<void> {
  if (rows.length === 0) return;
  const { sql } = db;
  await sql`
    update transfers t set ${denied ? sql`denials = t.denials + 1, denied_at = coalesce(t.denied_at, now())` : sql`denials = 0, denied_at = null`}
    from (
      select chain_id, tx_hash, ordinal from transfers
      where counts and final_at is null and ${denied ? sql`true` : sql`denials > 0`}
        and (chain_id, tx_hash, ordinal) in (${keysOf(db, rows)})
      for update skip locked) looked
    where (t.chain_id, t.tx_hash, t.ordinal) = (looked.chain_id, looked.tx_hash, looked.ordinal)`;
}

/**
 * Removes a transfer that counts, is not final and was denied for long, over all partners; false if it is not such, was
 * changed, or is locked.
 */
export async function deleteDenied(tx: Tx, row: TransferRow): Promise<boolean> {
  const rows = await tx`
    delete from transfers where (chain_id, tx_hash, ordinal) in (
      select chain_id, tx_hash, ordinal from transfers
      where chain_id = ${row.chain_id} and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal}
        and block_hash = ${row.block_hash} and request_id = ${row.request_id} and counts and final_at is null
        and denials >= ${deniedChecks} and denied_at <= now() - ${deniedMs} * interval '1 ms'
      for update skip locked)
    returning ordinal`;
  return rows.length > 0;
}

/** Transfers that wait to be matched, for `queueDepth`. */
export const waitingTransfers = (sql: Sql): Fragment =>
  sql`select block_time as since from transfers where judged_at is null`;
