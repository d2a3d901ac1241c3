import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { formatFiat } from '../../lib/money.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import {
  type BrowsedRow,
  type BrowseFilter,
  browseRequests,
  concerns,
  type ExportedRow,
  exportRequests,
  portalStatuses,
} from '../../requests/lists/browse.ts';
import { madeAt } from '../../requests/rules.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { ago, columnMicro } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { searchLimit } from '../../ui/search-limit.ts';
import { csvDecimal, csvFiat, csvMicro } from '../../web/csv-amounts.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { instantOf, linkWith, oneOf, readQuery } from '../../web/query.ts';
import { refundCells, refundHeader } from '../../web/refund-columns.ts';
import { requestStatusBadge } from '../../web/request-status.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { transferCells, transferHeader } from '../../web/transfer-columns.ts';
import { portalEventsPath } from '../live.ts';
import { accountsFor, merchantFilter } from '../merchants/merchant-choice.ts';
import type { PortalCall, PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { unmatchedNamed } from './unmatched.ts';

const path = '/portal/requests';
const csvPath = '/portal/requests.csv';
const names = ['q', 'status', 'concern', 'account_id', 'since', 'until', 'after'] as const;

/** `GET /portal/requests`, also as CSV. */
export function requestsList(pages: PortalPages, ctx: Context): void {
  const showList = async (call: PortalCall, status: 200 | 409) => {
    const { words, scope, mode, request, reply } = call;
    const portal = portalTexts(words);
    const query = readQuery(request.query, names);
    const merchant = await merchantFilter(ctx, call, query.account_id);
    const isFiltered = names.some((name) => query[name] !== undefined);
    const filter = await filterOf(ctx, scope, query);
    const { rows, next, limit } = await browseRequests(ctx, scope, filter, query.after ?? null);
    const unmatched = query.q === undefined ? null : await unmatchedNamed(ctx, call, query.q);
    const list =
      rows.length > 0
        ? requestTable(words, rows, ctx.clock.now())
        : isFiltered
          ? emptyState(portal.requests.none, query.q ? commonTexts(words).search.by : portal.requests.noneRest)
          : emptyState(
              portal.overview.empty,
              html`
                <p>${portal.requests.firstRest}</p>
                <p><a href="/portal/start">${portal.places.start}</a></p>
              `,
            );
    return sendPortal(ctx, reply, call, {
      path,
      title: portal.places.requests,
      status,
      body: html`
        ${filters(words, path, query, choices(words, merchant), limit === null ? csvPath : null)}
        <div class="list" data-live="${portalEventsPath(mode)}" data-region="list">
          ${searchLimit(words, limit)}
          ${(rows.length > 0 || !unmatched) && list}
          ${pager(words, path, query, next)}
          ${unmatched}
        </div>
      `,
    });
  };

  pages.page({ url: path, permission: 'read' }, (call) => showList(call, 200));
  pages.page({ url: csvPath, permission: 'read' }, async (call) => {
    const { scope, mode, request, reply } = call;
    const filter = await filterOf(ctx, scope, readQuery(request.query, names));
    const rows = await exportRequests(ctx, scope, filter);
    // The list says how far the search went.
    if (!rows) return showList(call, 409);
    return sendCsv(reply, `requests-${mode}`, csvHeader, csvOf(rows, csvRow));
  });
}

/** The filter in an address. A merchant that does not exist has no requests. */
async function filterOf(ctx: Context, scope: Scope, query: Record<string, string>): Promise<BrowseFilter> {
  const displayStatus = oneOf(portalStatuses, query.status);
  const [since, until] = [instantOf(query.since), instantOf(query.until)];
  const concern = oneOf(concerns, query.concern);
  return {
    ...(query.q && { search: query.q }),
    ...(displayStatus && { displayStatus }),
    ...(concern && { concern }),
    ...(await accountsFor(ctx, scope, query.account_id)),
    ...(since && { since }),
    ...(until && { until }),
  };
}

function choices(words: Words, merchant: Filter): Filter[] {
  const { requests } = portalTexts(words);
  return [
    { kind: 'text', name: 'q', label: requests.search, hint: commonTexts(words).search.hint },
    {
      kind: 'choice',
      name: 'status',
      label: requests.status,
      options: portalStatuses.map((status) => [status, requests.displayStatuses[status]]),
    },
    {
      kind: 'choice',
      name: 'concern',
      label: requests.concern,
      options: concerns.map((concern) => [concern, requests.concerns[concern]]),
    },
    merchant,
    { kind: 'date', name: 'since', label: requests.since },
    { kind: 'date', name: 'until', label: requests.until },
  ];
}

/** Requests as a table, in the order of `rows`. */
export function requestTable(words: Words, rows: BrowsedRow[], now: Date): Html {
  const { requests } = portalTexts(words);
  const amount = (row: BrowsedRow) => formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  return table<BrowsedRow>(
    requests.list,
    [
      {
        name: requests.amount,
        cell: (row) => html`<a href="${path}/${row.id}">${amount(row)}</a>`,
      },
      {
        name: requests.merchant,
        cell: (row) =>
          html`
            <a dir="auto" href="${linkWith(path, {}, { account_id: row.account_id })}">
              ${row.merchant_name ?? requests.unnamed}
            </a>
          `,
      },
      { name: requests.memo, cell: (row) => row.memo && html`<span class="clip" dir="auto">${row.memo}</span>` },
      { name: 'USDC', figures: true, cell: (row) => columnMicro(words, BigInt(row.usdc_micro)) },
      { name: requests.state, cell: (row) => requestStatusBadge(words, row.display_status) },
      { name: requests.created, cell: (row) => ago(words, madeAt(row), now) },
    ],
    rows,
  );
}

/** The names are those of the API's fields. */
const csvHeader = [
  ...['request_id', 'created_at', 'expires_at', 'account_id', 'merchant', 'status', 'proof_status', 'standing'],
  ...['fiat_amount', 'fiat_currency', 'usdc', 'received_usdc', 'rate', 'memo', 'payment_mode', 'customer_name'],
  ...['customer_email', 'customer_phone', 'proof_verified_at', 'tx_hash', 'payer_address', 'metadata'],
  ...refundHeader,
  ...transferHeader,
];

function csvRow(row: ExportedRow): CsvRow {
  return [
    ...[row.id, row.created_at, row.expires_at, row.account_id, row.merchant_name, row.status, row.proof_status],
    ...[row.display_status, csvFiat(row.fiat_int, row.fiat_code), row.fiat_code],
    ...[csvMicro(row.usdc_micro), csvMicro(row.received_micro), csvDecimal(row.rate), row.memo],
    ...[row.payment_mode, row.customer_name, row.customer_email, row.customer_phone, row.proof_verified_at],
    ...[row.tx_hash, row.payer_address, row.metadata === '{}' ? null : row.metadata],
    ...refundCells(row),
    ...transferCells(row),
  ];
}
