import type { Database } from '../../db/connection.ts';
import { hourMs } from '../../lib/durations.ts';
import { selectWatched, type WatchedRow } from './wallets-store.ts';

/** The merchant for whom a wallet is watched. */
export type Owner = { partnerId: string; accountId: string };

/** A change can be dated this much earlier than its transaction got its number. */
const usualOverlapMs = 10_000;
const reloadMs = hourMs;
const markEveryMs = 1_000;

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
  const put = (rows: readonly WatchedRow[]) => {
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
