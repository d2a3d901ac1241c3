import type { Database } from '../../db/connection.ts';
import { hourMs } from '../../lib/durations.ts';

/** The merchant for whom a wallet is watched. */
export type Owner = { partnerId: string; accountId: string };

/** How long before its transaction got its number a change can say that it was made. */
const usualOverlapMs = 10_000;
const reloadMs = hourMs;
const markEveryMs = 1_000;

type Row = { wallet_address: string; partner_id: string; account_id: string };

/** Transactions with this number or a later one began to write after this time of the database. */
type Mark = { at: Date; next: bigint };

/**
 * The wallets of one mode whose transfers matter, held in memory so that the cost of reading a block does not grow with
 * them.
 *
 * Call `refresh` after requesting the head and before reading. A request is committed before anyone can pay it, so
 * every wallet that is paid in a block up to that head is then known. A commit can take long, for instance while a
 * standby database does not answer. So changes are read again from when the oldest open transaction began to write.
 */
export type Wallets = { owners: ReadonlyMap<string, Owner>; refresh(): Promise<void> };

export function watchedWallets(db: Database, testMode: boolean, overlapMs = usualOverlapMs): Wallets {
  const owners = new Map<string, Owner>();
  /** The first is the newest one that no open transaction precedes. */
  let marks: Mark[] = [];
  let loadedAtMs = 0;
  const put = (rows: readonly Row[]) => {
    for (const row of rows) owners.set(row.wallet_address, { partnerId: row.partner_id, accountId: row.account_id });
  };
  return {
    owners,
    refresh: async () => {
      const [oldest] = marks;
      const full = !oldest || performance.now() - loadedAtMs > reloadMs;
      const since = full ? new Date(0) : new Date(oldest.at.getTime() - overlapMs);
      const { at, next, oldestOpen, rows } = await selectWatched(db, testMode, since);
      if (full) {
        owners.clear();
        loadedAtMs = performance.now();
        marks = [{ at: new Date(at.getTime() - reloadMs), next: 0n }];
      }
      put(rows);
      const newest = marks.at(-1)?.at.getTime() ?? 0;
      if (at.getTime() - newest >= markEveryMs) marks.push({ at, next });
      marks.splice(
        0,
        marks.findLastIndex((mark) => mark.next <= oldestOpen),
      );
    },
  };
}

type Watched = { at: Date; next: bigint; oldestOpen: bigint; rows: Row[] };

/**
 * If several merchants watch one wallet, the latest is its owner. A lookup over all partners, because the chain knows
 * none. `at` is the database's time, `next` the number of its next transaction, `oldestOpen` that of its oldest one.
 */
async function selectWatched(db: Database, testMode: boolean, since: Date): Promise<Watched> {
  const rows = await db.sql<({ at: Date; next: string; oldest: string } & (Row | Record<keyof Row, null>))[]>`
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
    rows: rows.filter((row): row is typeof row & Row => row.wallet_address !== null),
  };
}
