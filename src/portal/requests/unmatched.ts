import { explorerLink } from '../../checkout/transactions.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import type { Mode } from '../../lib/mode.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readSearchText } from '../../lib/text/search-text.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import {
  browseUnmatched,
  exportUnmatched,
  searchCut,
  type UnmatchedFilter,
  type UnmatchedRow,
} from '../../payments/unmatched/browse.ts';
import { refundOfPaymentCells, refundOfPaymentHeader } from '../../refunds/export-columns.ts';
import { type RefundRow, readRefunds } from '../../refunds/read.ts';
import { auditTexts } from '../../texts/audit.ts';
import { type PortalTexts, portalTexts } from '../../texts/portal.ts';
import { shortAddress, shortId } from '../../ui/components.ts';
import { ago } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { searchLimit } from '../../ui/search-limit.ts';
import { csvMicro } from '../../web/csv-amounts.ts';
import { sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { paymentAmount, symbolOf } from '../../web/payment-amount.ts';
import { instantOf, linkWith, oneOf, readQuery } from '../../web/query.ts';
import { refundBadge } from '../../web/refunded.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import { accountsFor, merchantFilter } from '../merchants/merchant-choice.ts';
import type { PortalCall, PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

const path = '/portal/unmatched';
const csvPath = '/portal/unmatched.csv';
const names = ['q', 'account_id', 'reason', 'since', 'until', 'after'] as const;

/** `GET /portal/unmatched`: payments that match no request, each with its reason; also as CSV. */
export function unmatchedPages(pages: PortalPages, ctx: Context): void {
  const showList = async (call: PortalCall, status: 200 | 409) => {
    const { words, scope, mode, request, reply } = call;
    const portal = portalTexts(words);
    const audit = auditTexts(words);
    const query = readQuery(request.query, names);
    const merchant = await merchantFilter(ctx, call, query.account_id);
    const isFiltered = names.some((name) => query[name] !== undefined);
    const filter = await filterOf(ctx, call, query);
    const cut = await searchCut(ctx, scope, filter);
    const { rows, next } = await browseUnmatched(ctx, scope, filter, query.after ?? null);
    const refunds = await readRefunds(ctx.db, scope, rows.map(keyOf));
    const list =
      rows.length > 0
        ? unmatchedTable(words, rows, refunds, ctx.chains[mode], ctx.clock.now())
        : isFiltered
          ? emptyState(audit.none, audit.noneRest)
          : emptyState(portal.unmatched.none, portal.unmatched.noneRest);
    return sendPortal(ctx, reply, call, {
      path,
      title: portal.places.unmatched,
      status,
      body: html`
        <p class="quiet">${portal.unmatched.rest}</p>
        ${filters(words, path, query, choices(words, merchant), cut === null ? csvPath : null)}
        <div class="list" data-live="${portalEventsPath(mode)}" data-region="list">
          ${searchLimit(words, cut === null ? null : { kind: 'matches', count: cut })}
          ${list}
          ${pager(words, path, query, next)}
        </div>
      `,
    });
  };

  pages.page({ url: path, permission: 'read' }, (call) => showList(call, 200));
  pages.page({ url: csvPath, permission: 'read' }, async (call) => {
    const { scope, mode, request, reply } = call;
    const filter = await filterOf(ctx, call, readQuery(request.query, names));
    // What was found would pass for all.
    if ((await searchCut(ctx, scope, filter)) !== null) return showList(call, 409);
    const batches = exportUnmatched(ctx, scope, filter);
    return sendCsv(reply, `unmatched-${mode}`, csvHeader, csvRows(ctx, scope, batches, ctx.chains[mode]));
  });
}

const reasonsOf = (words: Words) =>
  Object.entries(portalTexts(words).reasons) as [keyof PortalTexts['reasons'], string][];

type Reading = Pick<PortalCall, 'words' | 'scope' | 'mode'>;

async function filterOf(
  ctx: Context,
  { words, scope, mode }: Reading,
  query: Record<string, string>,
): Promise<UnmatchedFilter> {
  const reason = oneOf(
    reasonsOf(words).map(([name]) => name),
    query.reason,
  );
  const [since, until] = [instantOf(query.since), instantOf(query.until)];
  return {
    ...(await accountsFor(ctx, scope, query.account_id)),
    ...(reason && { reason }),
    ...(query.q && { search: searchFor(ctx, mode, query.q) }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

const searchFor = (ctx: Context, mode: Mode, typed: string): NonNullable<UnmatchedFilter['search']> => ({
  words: readSearchText(typed),
  chainIds: ctx.chains[mode].map(({ chainId }) => chainId),
});

/**
 * The newest unmatched payments of a transaction or payer, or those probably meant for a request; null if there are
 * none.
 */
export async function unmatchedNamed(ctx: Context, call: PortalCall, typed: string): Promise<Html | null> {
  const { words, scope, mode } = call;
  const search = searchFor(ctx, mode, typed);
  if (!search.words.hash && !search.words.address && !search.words.id) return null;
  const { rows } = await browseUnmatched(ctx, scope, { search }, null);
  if (rows.length === 0) return null;
  const refunds = await readRefunds(ctx.db, scope, rows.map(keyOf));
  return html`
    <h2>${portalTexts(words).unmatched.list}</h2>
    ${unmatchedTable(words, rows, refunds, ctx.chains[mode], ctx.clock.now())}
  `;
}

function choices(words: Words, merchant: Filter): Filter[] {
  const { unmatched, requests } = portalTexts(words);
  return [
    { kind: 'text', name: 'q', label: requests.search, hint: unmatched.searchHint },
    merchant,
    { kind: 'choice', name: 'reason', label: unmatched.reason, options: reasonsOf(words) },
    { kind: 'date', name: 'since', label: requests.since },
    { kind: 'date', name: 'until', label: requests.until },
  ];
}

const chainOf = (row: UnmatchedRow, chains: ChainConfig[]) => findChain(chains, row.chain_id);

const keyOf = (row: UnmatchedRow) => ({ chainId: Number(row.chain_id), txHash: row.tx_hash, ordinal: row.ordinal });

function unmatchedTable(
  words: Words,
  rows: UnmatchedRow[],
  refunds: Map<string, RefundRow>,
  chains: ChainConfig[],
  now: Date,
): Html {
  const { unmatched, requests, reasons } = portalTexts(words);
  const amount = (row: UnmatchedRow) => paymentAmount(words, chains, row);
  return table<UnmatchedRow>(
    unmatched.list,
    [
      { name: unmatched.amount, cell: (row) => html`<span class="figures">${amount(row)}</span>` },
      {
        name: unmatched.merchant,
        cell: (row) =>
          html`
            <a href="${linkWith(path, {}, { account_id: row.account_id })}">${row.merchant_name ?? requests.unnamed}</a>
          `,
      },
      {
        name: unmatched.why,
        cell: (row) => {
          const refund = refunds.get(writeTransferKey(keyOf(row)));
          return html`
            <div>
              ${refund && refundBadge(words, refund)}
              <p${refund && html` class="quiet"`}>${reasons[row.reason ?? 'no_match']}</p>
            </div>
          `;
        },
      },
      {
        name: unmatched.seemsFor,
        cell: (row) =>
          row.candidate_request_id &&
          html`
            <a class="mono" href="/portal/requests/${row.candidate_request_id}">${shortId(row.candidate_request_id)}</a>
          `,
      },
      {
        name: unmatched.payer,
        cell: (row) => shortAddress(row.from_address),
      },
      {
        name: unmatched.transaction,
        cell: (row) => explorerLink(chainOf(row, chains), row.tx_hash, shortId(row.tx_hash)),
      },
      { name: unmatched.when, cell: (row) => ago(words, row.block_time, now) },
    ],
    rows,
  );
}

const csvHeader = [
  ...['account_id', 'merchant', 'reason', 'candidate_request_id', 'amount', 'token', 'token_address', 'value'],
  ...['chain_id', 'tx_hash', 'ordinal', 'from_address', 'to_address', 'block_time'],
  ...refundOfPaymentHeader,
];

async function* csvRows(
  ctx: Context,
  scope: Scope,
  batches: AsyncIterable<UnmatchedRow[]>,
  chains: ChainConfig[],
): AsyncGenerator<CsvRow[]> {
  for await (const rows of batches) {
    const refunds = await readRefunds(ctx.db, scope, rows.map(keyOf));
    yield rows.map((row) => csvRow(row, refunds.get(writeTransferKey(keyOf(row))), chains));
  }
}

function csvRow(row: UnmatchedRow, refund: RefundRow | undefined, chains: ChainConfig[]): CsvRow {
  const symbol = symbolOf(chains, row);
  return [
    ...[row.account_id, row.merchant_name, row.reason ?? 'no_match', row.candidate_request_id],
    ...[symbol && csvMicro(row.value), symbol, row.token_address, row.value],
    ...[row.chain_id, row.tx_hash, row.ordinal, row.from_address, row.to_address, row.block_time],
    ...refundOfPaymentCells(refund),
  ];
}
