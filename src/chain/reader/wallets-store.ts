import type { Database } from '../../db/connection.ts';

/** A watched wallet and the merchant that was last to have it watched. */
export type WatchedRow = { wallet_address: string; partner_id: string; account_id: string };

type Watched = { at: Date; next: bigint; oldestOpen: bigint; rows: WatchedRow[] };

/**
 * If several merchants watch one wallet, the latest is its owner. A lookup over all partners, because a chain knows
 * nothing of partners. `at` is the database's time, `next` the number of its next transaction, `oldestOpen` that of its
 * oldest one.
 */
export async function selectWatched(db: Database, testMode: boolean, since: Date): Promise<Watched> {
  const rows = await db.sql<
    ({ at: Date; next: string; oldest: string } & (WatchedRow | Record<keyof WatchedRow, null>))[]
  >`
    select now() as at, pg_snapshot_xmax(now_open)::text as next, pg_snapshot_xmin(now_open)::text as oldest, w.*
    from pg_current_snapshot() now_open left join (
      select distinct on (wallet_address) wallet_address, partner_id, account_id from watched_wallets
      where test_mode = ${testMode} and changed_at >= ${since} and watch_until > now()
      order by wallet_address, changed_at desc) w on true`;
  const [first] = rows;
  if (!first) throw new Error('the database did not say what it watches');
  const { at, next, oldest } = first;
  return {
    ...{ at, next: BigInt(next), oldestOpen: BigInt(oldest) },
    rows: rows.filter((row): row is typeof row & WatchedRow => row.wallet_address !== null),
  };
}
