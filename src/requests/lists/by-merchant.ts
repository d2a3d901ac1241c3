import type { Database, Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { batchesOf, cursorAt, placeOf, type ReadFrom, readPage } from '../../lib/batches.ts';
import { readRequest } from '../read.ts';
import type { RequestRow } from '../store.ts';
import {
  type DaySum,
  type MerchantRequestFilter,
  type MerchantRequestRow,
  selectByMerchant,
  selectDaySums,
} from './merchant-store.ts';

export type { DaySum, DisplayStatus, MerchantRequestRow } from './merchant-store.ts';

/** What of a merchant's requests is wanted. */
export type ByMerchantFilter = Omit<MerchantRequestFilter, 'after' | 'limit'>;

const reading =
  (db: Database, scope: Scope, accountId: string, filter: ByMerchantFilter): ReadFrom<MerchantRequestRow> =>
  (after, limit) => {
    const place = placeOf(after);
    const cursor = place && { createdAt: place.at, id: place.id };
    return db.scoped(scope, (tx) => selectByMerchant(tx, scope, accountId, { ...filter, after: cursor, limit }));
  };

/** One page of a merchant's requests, newest first, and the cursor of the next page; null at the end. */
export function listByMerchant(
  db: Database,
  scope: Scope,
  accountId: string,
  filter: ByMerchantFilter,
  after: string | null,
): Promise<{ rows: MerchantRequestRow[]; next: string | null }> {
  return readPage(reading(db, scope, accountId, filter), cursorAt, after);
}

/** All requests of a merchant that match a filter, newest first, in batches. */
export function exportByMerchant(
  db: Database,
  scope: Scope,
  accountId: string,
  filter: ByMerchantFilter,
): AsyncGenerator<MerchantRequestRow[]> {
  return batchesOf(reading(db, scope, accountId, filter), cursorAt);
}

/** The newest requests of a merchant. */
export function latestByMerchant(
  db: Database,
  scope: Scope,
  accountId: string,
  limit: number,
): Promise<MerchantRequestRow[]> {
  return reading(db, scope, accountId, { displayStatus: null, since: null, until: null, search: null })(null, limit);
}

/**
 * A request of one merchant.
 *
 * @throws Refusal not_found, also for another merchant's
 */
export async function readByMerchant(db: Database, scope: Scope, accountId: string, id: string): Promise<RequestRow> {
  const row = await readRequest(db, scope, id);
  if (row.account_id !== accountId) throw refuse('not_found');
  return row;
}

/** A merchant's verified payments between two instants, by day (UTC) and currency. */
export function sumByDay(db: Database, scope: Scope, accountId: string, since: Date, until: Date): Promise<DaySum[]> {
  return db.scoped(scope, (tx) => selectDaySums(tx, scope, accountId, since, until));
}
