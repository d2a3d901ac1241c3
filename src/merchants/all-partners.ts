import type { Context } from '../context.ts';
import { batchesOf, cursorAt, placeOf, type ReadFrom, readPage } from '../lib/paging.ts';
import {
  type AllMerchantsFilter,
  type ListedMerchant,
  selectAllMerchants,
  selectTermsVersions,
} from './all-partners-store.ts';

export type { AllMerchantsFilter, ListedMerchant } from './all-partners-store.ts';

const readFrom =
  (ctx: Context, filter: AllMerchantsFilter): ReadFrom<ListedMerchant> =>
  (after, limit) =>
    ctx.db.transaction((tx) => selectAllMerchants(tx, filter, placeOf(after), limit));

/** Operators: one page of the merchants of all partners in both modes, newest first. */
export const browseAllMerchants = (ctx: Context, filter: AllMerchantsFilter, after: string | null) =>
  readPage(readFrom(ctx, filter), cursorAt, after);

/** Operators: all merchants of a filter, in batches. */
export const exportAllMerchants = (ctx: Context, filter: AllMerchantsFilter) =>
  batchesOf(readFrom(ctx, filter), cursorAt);

/** Operators: which versions of the terms were accepted, by how many merchants, and when last. */
export const listTermsVersions = (ctx: Context) => selectTermsVersions(ctx.db.sql);
