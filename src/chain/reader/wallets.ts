import type { Database } from '../../db/connection.ts';
import { hourMs } from '../../lib/durations.ts';

/** The merchant for whom a wallet is watched. */
export type Owner = { partnerId: string; accountId: string };

/** How far back changes are read again, because their transactions may have committed out of order. */
const overlapMs = 10_000;
const reloadMs = hourMs;

type Row = { wallet_address: string; partner_id: string; account_id: string };

/**
 * The wallets of one mode whose transfers matter, held in memory so that the cost of reading a block does not grow with
 * them.
 *
 * Call `refresh` after requesting the head and before reading. A request is committed before anyone can pay it, so
 * every wallet that is paid in a block up to that head is then known.
 */
export type Wallets = { owners: ReadonlyMap<string, Owner>; refresh(): Promise<void> };

export function watchedWallets(db: Database, testMode: boolean): Wallets {
  const owners = new Map<string, Owner>();
  let lastAt: Date | null = null;
  let loadedAtMs = 0;
  const put = (rows: readonly Row[]) => {
    for (const row of rows) owners.set(row.wallet_address, { partnerId: row.partner_id, accountId: row.account_id });
  };
  return {
    owners,
    refresh: async () => {
      const full = lastAt === null || performance.now() - loadedAtMs > reloadMs;
      const since = full || lastAt === null ? new Date(0) : new Date(lastAt.getTime() - overlapMs);
      const { at, rows } = await selectWatched(db, testMode, since);
      if (full) {
        owners.clear();
        loadedAtMs = performance.now();
      }
      put(rows);
      lastAt = at;
    },
  };
}

/**
 * If several merchants watch one wallet, the latest is its owner. A lookup over all partners, because the chain knows
 * none. `at` is the database's time.
 */
async function selectWatched(db: Database, testMode: boolean, since: Date): Promise<{ at: Date | null; rows: Row[] }> {
  const rows = await db.sql<({ at: Date } & (Row | Record<keyof Row, null>))[]>`
    select now() as at, w.* from (values (1)) one left join (
      select distinct on (wallet_address) wallet_address, partner_id, account_id from watched_wallets
      where test_mode = ${testMode} and changed_at >= ${since} and watch_until > now()
      order by wallet_address, changed_at desc) w on true`;
  return { at: rows[0]?.at ?? null, rows: rows.filter((row) => row.wallet_address !== null) };
}
