import type { Context } from '../../context.ts';
import type { Database, Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { batchesOf, cursorAt, placeOf, type ReadFrom, readPage } from '../../lib/paging.ts';
import { readRequest } from '../read.ts';
import type { RequestRow } from '../store.ts';
import { findIn } from './browse.ts';
import {
  type DaySum,
  type ExportedByMerchant,
  exported,
  type MerchantRequestFilter,
  type MerchantRequestRow,
  onPage,
  selectByMerchant,
  selectDaySums,
  selectPaidIds,
} from './merchant-store.ts';
import type { SearchLimit } from './search.ts';

export type { DaySum, DisplayStatus, ExportedByMerchant, MerchantRequestRow } from './merchant-store.ts';

/** Which of a merchant's requests are wanted. */
export type ByMerchantFilter = Pick<MerchantRequestFilter, 'displayStatus' | 'since' | 'until'> & {
  /** What was typed into the search field. */
  search: string | null;
};

type Part = Omit<MerchantRequestFilter, 'before' | 'limit'>;

const partAt = (part: Part, after: string | null, limit: number): MerchantRequestFilter => ({
  ...part,
  before: placeOf(after)?.at ?? null,
  limit,
});

const readingPages =
  (db: Database, scope: Scope, accountId: string, part: Part): ReadFrom<MerchantRequestRow> =>
  (after, limit) =>
    selectByMerchant(db, scope, accountId, partAt(part, after, limit), onPage);

const findBy = (ctx: Context, scope: Scope, accountId: string, { search, since, until }: ByMerchantFilter) =>
  findIn(ctx, scope, search, { accountId, ...(since && { since }), ...(until && { until }) });

/**
 * One page of a merchant's requests, newest first, and the cursor of the next page; null at the end. `limit`: how far a
 * search went.
 */
export async function listByMerchant(
  ctx: Context,
  scope: Scope,
  accountId: string,
  filter: ByMerchantFilter,
  after: string | null,
): Promise<{ rows: MerchantRequestRow[]; next: string | null; limit: SearchLimit | null }> {
  const found = await findBy(ctx, scope, accountId, filter);
  const part = { ...filter, ids: found?.ids ?? null };
  return {
    ...(await readPage(readingPages(ctx.db, scope, accountId, part), cursorAt, after)),
    limit: found?.limit ?? null,
  };
}

/**
 * All requests of a merchant that match a filter, newest first, in batches; null if its search did not look at
 * everything, because what it found would pass for all.
 */
export async function exportByMerchant(
  ctx: Context,
  scope: Scope,
  accountId: string,
  filter: ByMerchantFilter,
): Promise<AsyncGenerator<ExportedByMerchant[]> | null> {
  const found = await findBy(ctx, scope, accountId, filter);
  if (found?.limit) return null;
  const part = { ...filter, ids: found?.ids ?? null };
  const read: ReadFrom<ExportedByMerchant> = (after, limit) =>
    selectByMerchant(ctx.db, scope, accountId, partAt(part, after, limit), exported);
  return batchesOf(read, cursorAt);
}

/** A merchant's requests that were verified between two instants, in that order, in batches. */
export async function* exportPaid(
  { db }: Pick<Context, 'db'>,
  scope: Scope,
  accountId: string,
  since: Date,
  until: Date,
): AsyncGenerator<ExportedByMerchant[]> {
  const read: ReadFrom<ExportedByMerchant> = async (after, limit) => {
    const part = { since, until, after: placeOf(after), limit };
    const ids = (await db.read(scope, (sql) => selectPaidIds(sql, scope, accountId, part))).map(({ id }) => id);
    if (ids.length === 0) return [];
    const all = { displayStatus: null, since: null, until: null, before: null, ids, limit };
    const rows = new Map((await selectByMerchant(db, scope, accountId, all, exported)).map((row) => [row.id, row]));
    return ids.flatMap((id) => rows.get(id) ?? []);
  };
  yield* batchesOf(read, ({ proof_verified_at, created_at, id }) =>
    cursorAt({ created_at: proof_verified_at ?? created_at, id }),
  );
}

/** The newest requests of a merchant. */
export function latestByMerchant(
  db: Database,
  scope: Scope,
  accountId: string,
  limit: number,
): Promise<MerchantRequestRow[]> {
  return readingPages(db, scope, accountId, { displayStatus: null, since: null, until: null, ids: null })(null, limit);
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
  return db.read(scope, (sql) => selectDaySums(sql, scope, accountId, since, until));
}
