import type { Context } from '../context.ts';
import { batchesOf, type ReadFrom, readPage } from '../lib/paging.ts';
import { type ListedPartner, type PartnerFilter, selectPartners } from './browse-store.ts';

export type { ListedPartner, PartnerFilter } from './browse-store.ts';

const readFrom =
  (ctx: Context, filter: PartnerFilter): ReadFrom<ListedPartner> =>
  (after, limit) =>
    selectPartners(ctx.db.sql, filter, after, limit);
const cursorOf = ({ slug }: ListedPartner) => slug;

/** Operators: one page of partners by slug. */
export const browsePartners = (ctx: Context, filter: PartnerFilter, after: string | null) =>
  readPage(readFrom(ctx, filter), cursorOf, after);

/** Operators: all partners of a filter, in batches. */
export const exportPartners = (ctx: Context, filter: PartnerFilter) => batchesOf(readFrom(ctx, filter), cursorOf);
