import { scopeOfPartner } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf, modes } from '../../lib/mode.ts';
import { html } from '../../lib/text/html.ts';
import { readSearchText } from '../../lib/text/search-text.ts';
import { browseAllMerchants } from '../../merchants/all-partners.ts';
import { browsePartners, exportPartners } from '../../partners/browse.ts';
import { browseUnmatched } from '../../payments/unmatched/browse.ts';
import { findOfAllPartners } from '../../requests/lists/all-partners.ts';
import { browseRequests, type SearchLimit } from '../../requests/lists/browse.ts';
import { adminTexts } from '../../texts/admin.ts';
import { commonTexts } from '../../texts/common.ts';
import { searchLimit } from '../../ui/search-limit.ts';
import { recordSearch } from '../../users/record-view.ts';
import { filters } from '../../web/filters.ts';
import { emptyState } from '../../web/table.ts';
import type { AdminPages } from '../route.ts';
import {
  type FoundPayment,
  type FoundRequest,
  foundMerchants,
  foundPartners,
  foundPayments,
  foundRequests,
} from './tables.ts';

const path = '/admin/search';
const names = ['q', 'partner'] as const;
/** How long partners are searched one after another. */
const maxSearchMs = 400;
const maxShown = 20;

/** `isCut`: there are more than are shown. */
type SearchResults = { requests: FoundRequest[]; payments: FoundPayment[]; isCut: boolean; limit: SearchLimit | null };

/** `GET /admin/search`: one field for requests, payments, merchants and partners, of all partners in both modes. */
export function adminSearch(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async (call) => {
    const { words, query, show, actor } = call;
    const admin = adminTexts(words);
    const { places } = admin;
    const wanted = query(names);
    const { q, partner } = wanted;
    const { search: t } = commonTexts(words);
    const form = filters(
      words,
      path,
      wanted,
      [
        { kind: 'text', name: 'q', label: admin.search, hint: t.hint },
        { kind: 'text', name: 'partner', label: admin.partner, hint: admin.allPartners },
      ],
      null,
    );
    if (q === undefined) return show({ path, title: places.search, body: html`${form}<p class="quiet">${t.by}</p>` });
    const slug = partner?.toLowerCase() ?? null;
    await recordSearch(ctx, actor, slug);
    const [found, merchants, partners] = await Promise.all([
      slug === null ? findAnywhere(ctx, q) : findAt(ctx, q, [slug]),
      browseAllMerchants(ctx, { search: q, ...(slug !== null && { partner: slug }) }, null),
      browsePartners(ctx, { search: q }, null),
    ]);
    const shownMerchants = merchants.rows.slice(0, maxShown);
    const shownPartners = slug === null ? partners.rows.slice(0, maxShown) : [];
    const isCut = found.isCut || merchants.rows.length > maxShown || (slug === null && partners.rows.length > maxShown);
    const sizes = [found.requests, found.payments, shownMerchants, shownPartners].map((list) => list.length);
    const nothing = sizes.every((size) => size === 0);
    return show({
      path,
      title: places.search,
      body: html`
        ${form}
        ${searchLimit(words, found.limit)}
        ${isCut && html`<p class="quiet">${admin.moreFound}</p>`}
        ${nothing && emptyState(admin.nothing, t.by)}
        ${found.requests.length > 0 && foundRequests(words, found.requests, ctx.clock.now())}
        ${found.payments.length > 0 && foundPayments(words, found.payments, ctx)}
        ${shownMerchants.length > 0 && foundMerchants(words, shownMerchants)}
        ${shownPartners.length > 0 && foundPartners(words, shownPartners)}
      `,
    });
  });
}

/** Finds what indexes over all partners identify. If they find nothing, searches the partners one after another. */
async function findAnywhere(ctx: Context, typed: string): Promise<SearchResults> {
  const { requests: named, isAll } = await findOfAllPartners(ctx, readSearchText(typed));
  if (named.length === 0) return findAt(ctx, typed, slugs(ctx));
  const found = await Promise.all(
    named.map(async ({ scope, id }) => ({ scope, ...(await browseRequests(ctx, scope, { search: id }, null)) })),
  );
  const requests = found.flatMap(({ scope, rows }) => rows.map((row) => ({ scope, row })));
  return { requests, payments: [], isCut: !isAll, limit: null };
}

async function* slugs(ctx: Context): AsyncGenerator<string> {
  for await (const batch of exportPartners(ctx, {})) for (const { slug } of batch) yield slug;
}

async function findAt(ctx: Context, typed: string, partners: AsyncIterable<string> | string[]): Promise<SearchResults> {
  const found: SearchResults = { requests: [], payments: [], isCut: false, limit: null };
  const end = performance.now() + maxSearchMs;
  let searched = 0;
  for await (const slug of partners) {
    const isFull = found.requests.length >= maxShown;
    if (searched > 0 && (isFull || performance.now() > end)) {
      return { ...found, limit: { kind: 'partners', count: searched } };
    }
    for (const mode of modes) {
      const scope = await scopeOfPartner(ctx.db, slug, mode === 'test');
      if (scope) await findInScope(ctx, scope, typed, found);
    }
    searched++;
  }
  return found;
}

async function findInScope(ctx: Context, scope: Scope, typed: string, found: SearchResults): Promise<void> {
  const words = readSearchText(typed);
  const chainIds = ctx.chains[modeOf(scope.testMode)].map(({ chainId }) => chainId);
  const isPayment = words.hash ?? words.address;
  const [{ rows, limit }, unmatched] = await Promise.all([
    browseRequests(ctx, scope, { search: typed }, null),
    isPayment ? browseUnmatched(ctx, scope, { search: { words, chainIds } }, null) : { rows: [] },
  ]);
  found.requests.push(...rows.slice(0, maxShown).map((row) => ({ scope, row })));
  found.payments.push(...unmatched.rows.slice(0, maxShown).map((row) => ({ scope, row })));
  found.isCut ||= rows.length > maxShown || unmatched.rows.length > maxShown;
  found.limit ??= limit;
}
