import type { Context } from '../../context.ts';
import { type Scope, sqlState, type Tx } from '../../db/connection.ts';
import type { Fragment } from '../../db/sql.ts';
import { Turns } from '../../lib/concurrency/turns.ts';
import { modeOf } from '../../lib/mode.ts';
import { readSearchText, type SearchText } from '../../lib/text/search-text.ts';
import { maxFound, type Scanned, selectNamed, selectScanned } from './search-store.ts';

/**
 * How far a search went if it did not cover everything. `newest`: through this many of the newest requests. `matches`:
 * until this many were found. `partners`: through this many partners.
 */
export type SearchLimit = { kind: 'newest' | 'matches' | 'partners'; count: number };

/** The ids of the requests that a search found, and how far it went; null: to the end. */
export type SearchResult = { ids: string[]; limit: SearchLimit | null };

/** What no index contains is searched for in this many of the newest requests, or for this long. */
const maxRead = 100_000;
const maxSearchMs = 300;
/**
 * How many are read at once; the time is checked in between. The first batch is smaller, because requests can be of any
 * size.
 */
const batchRows = 10_000;
const firstRows = 1_000;
/** Some texts are slow to compare. A batch that takes longer than this is given up. */
const maxBatchMs = 1_000;
const canceled = '57014';
/**
 * Searches that read through lists never take all connections of pages. One at a time runs for each partner and mode or
 * merchant; a search that waits this long is given up.
 */
const turns = new Turns(2, 5_000);

/** The part of a list that is searched: this many of its requests, newest first, from before an instant on. */
export type Searched = {
  newest: (tx: Tx, before: Date | null, limit: number) => Fragment;
  /** How many lists it consists of, each of which is read for a page. */
  lists: number;
};

/** Finds requests of a scope, or of one merchant in it, by what was typed into a search field. */
export async function findRequests(
  ctx: Context,
  { scope, accountId }: { scope: Scope; accountId: string | null },
  typed: string,
  searched: Searched,
): Promise<SearchResult> {
  const search = readSearchText(typed);
  const chainIds = ctx.chains[modeOf(scope.testMode)].map(({ chainId }) => chainId);
  const { ids: named, isAll } = await ctx.db.reading(scope, (tx) =>
    selectNamed(tx, { scope, accountId, chainIds }, search),
  );
  // No text can contain these.
  const isOnlyNamed = search.hash ?? search.address ?? search.receipt;
  if (isOnlyNamed) return { ids: named, limit: isAll ? null : { kind: 'matches', count: named.length } };
  if (isAll && isNamed(search, named.length)) return { ids: named, limit: null };
  const key = accountId ?? String(scope.testMode);
  const looked = await turns.take(scope.partnerId, key, () => lookThrough(ctx, scope, search, searched));
  const { ids, limit } = looked ?? { ids: [], limit: { kind: 'newest', count: 0 } };
  return { ids: [...new Set([...named, ...ids])], limit };
}

/** True for an id, its beginning or an e-mail address that was found. */
function isNamed({ id, email, ids }: SearchText, found: number): boolean {
  return found > 0 && Boolean(id ?? email ?? ids);
}

async function lookThrough(
  ctx: Context,
  scope: Scope,
  search: SearchText,
  { newest, lists }: Searched,
): Promise<SearchResult> {
  const ids: string[] = [];
  const end = performance.now() + maxSearchMs;
  let read = 0;
  let before: Date | null = null;
  while (read < maxRead && ids.length < maxFound && performance.now() < end) {
    const from: Date | null = before;
    const rows = Math.ceil((read === 0 ? firstRows : batchRows) / lists);
    const looked: Scanned | null = await ctx.db
      .reading(scope, (tx) => selectScanned(tx, newest(tx, from, rows), search, maxBatchMs))
      .catch(orTooSlow);
    if (!looked) return { ids, limit: { kind: 'newest', count: read } };
    ids.push(...looked.ids);
    read += looked.read;
    before = looked.oldest;
    if (looked.read < rows) return { ids, limit: null };
  }
  if (ids.length < maxFound) return { ids, limit: { kind: 'newest', count: read } };
  return { ids: ids.slice(0, maxFound), limit: { kind: 'matches', count: maxFound } };
}

function orTooSlow(error: unknown): null {
  if (sqlState(error) === canceled) return null;
  throw error;
}
