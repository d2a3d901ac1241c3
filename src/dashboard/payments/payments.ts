import { allChains, nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { dayMs } from '../../lib/durations.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { html } from '../../lib/text/html.ts';
import { receiptNumber } from '../../lib/text/receipt-number.ts';
import { knownInstant } from '../../lib/time.ts';
import {
  type ByMerchantFilter,
  type ExportedByMerchant,
  exportByMerchant,
  exportPaid,
  listByMerchant,
} from '../../requests/lists/by-merchant.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { fill, type Words } from '../../ui/language.ts';
import { searchLimit } from '../../ui/search-limit.ts';
import { csvDecimal, csvFiat, csvMicro } from '../../web/csv-amounts.ts';
import { sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { instantOf, oneOf, readQuery } from '../../web/query.ts';
import { refundCells, refundHeader } from '../../web/refund-columns.ts';
import { emptyState, pager } from '../../web/table.ts';
import { transferCells, transferHeader } from '../../web/transfer-columns.ts';
import { displayStatuses, paymentTable } from '../home/display-status.ts';
import { paidCsvPath } from '../home/figures.ts';
import { monthOf } from '../home/period.ts';
import { dashboardEventsPath } from '../live.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { sendDashboard } from '../shell.ts';
import { unmatchedNamed } from './unmatched.ts';

const path = '/dashboard/payments';
const csvPath = '/dashboard/payments.csv';
const names = ['q', 'state', 'since', 'until', 'after'] as const;

/** `GET /dashboard/payments`: all requests of the merchant, also as CSV. A second CSV has the payments of a month. */
export function paymentList(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showList(ctx, visit, 200));
  pages.page({ url: csvPath }, async (visit) => {
    const { session, request, reply } = visit;
    const rows = await exportByMerchant(ctx, session.scope, session.accountId, filterOf(request.query));
    if (!rows) return showList(ctx, visit, 409);
    return sendCsv(reply, 'payments', csvHeader, csvRows(ctx, rows));
  });
  pages.page({ url: paidCsvPath }, ({ session, request, reply }) => {
    const month = monthOf(readQuery(request.query, ['month']).month ?? '', ctx.clock.now());
    if (!month) throw refuse('not_found');
    const rows = exportPaid(ctx, session.scope, session.accountId, month.since, month.until);
    return sendCsv(reply, `paid-${month.month}`, csvHeader, csvRows(ctx, rows));
  });
}

/** @param status 409 instead of an export whose search did not look at everything: the list says how far it went */
async function showList(ctx: Context, visit: MerchantVisit, status: 200 | 409) {
  const { session, merchant, words, request } = visit;
  const { list } = dashboardTexts(words);
  const query = readQuery(request.query, names);
  const { scope, accountId } = session;
  const after = query.after ?? null;
  const { rows, next, limit } = await listByMerchant(ctx, scope, accountId, filterOf(request.query), after);
  const unmatched = query.q === undefined ? null : await unmatchedNamed(ctx, session, words, query.q);
  const filtered = names.some((name) => query[name] !== undefined);
  const nothing = filtered
    ? emptyState(list.none, query.q ? commonTexts(words).search.by : list.noneRest)
    : emptyState(
        list.first,
        html`
          ${fill(list.firstRest, { partner: merchant.partner_name })}
          ${' '}
          <a href="/dashboard/ask">${dashboardTexts(words).newRequest.title}</a>
        `,
      );
  return sendDashboard(ctx, visit, {
    path,
    title: list.title,
    status,
    body: html`
      ${filters(words, path, query, choices(words), limit === null ? csvPath : null)}
      <div class="list" data-live="${dashboardEventsPath()}" data-region="list">
        ${searchLimit(words, limit)}
        ${rows.length > 0 ? paymentTable(words, rows, ctx.clock.now()) : !unmatched && nothing}
        ${pager(words, path, query, next)}
        ${unmatched}
      </div>
    `,
  });
}

/** The filter in an address. Both days of a period count in full. */
function filterOf(asked: unknown): ByMerchantFilter {
  const query = readQuery(asked, names);
  const until = instantOf(query.until);
  const isDay = query.until !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(query.until);
  return {
    search: query.q ?? null,
    displayStatus: oneOf(displayStatuses, query.state) ?? null,
    since: instantOf(query.since) ?? null,
    until: until ? knownInstant(until.getTime() + (isDay ? dayMs : 0)) : null,
  };
}

function choices(words: Words): Filter[] {
  const { list, displayStatus } = dashboardTexts(words);
  return [
    { kind: 'text', name: 'q', label: list.search, hint: commonTexts(words).search.hint },
    {
      kind: 'choice',
      name: 'state',
      label: list.state,
      options: displayStatuses.map((one) => [one, displayStatus[one]]),
    },
    { kind: 'date', name: 'since', label: list.since },
    { kind: 'date', name: 'until', label: list.until },
  ];
}

/** The names are those of the API's fields. */
const csvHeader = [
  ...['request_id', 'created_at', 'state', 'fiat_amount', 'fiat_currency', 'usdc', 'received_usdc', 'rate'],
  ...['rate_source', 'proof_verified_at', 'block_time', 'network', 'tx_hash', 'payer_address', 'customer_name', 'memo'],
  ...['receipt_number', ...refundHeader, ...transferHeader],
];

async function* csvRows(
  { chains }: Pick<Context, 'chains'>,
  batches: AsyncIterable<ExportedByMerchant[]>,
): AsyncGenerator<CsvRow[]> {
  const all = allChains(chains);
  for await (const batch of batches) {
    yield batch.map((row) => [
      ...[row.id, row.created_at, row.display_status, csvFiat(row.fiat_int, row.fiat_code)],
      ...[row.fiat_code, csvMicro(row.usdc_micro), csvMicro(row.received_micro), csvDecimal(row.rate)],
      row.rate_source,
      ...[row.proof_verified_at, row.paid_block_time],
      row.paid_chain_id && nameOfChain(all, row.paid_chain_id),
      ...[row.tx_hash, row.payer_address, row.customer_name, row.memo],
      row.proof_verified_at && receiptNumber(row.id, row.proof_verified_at),
      ...refundCells(row),
      ...transferCells(row),
    ]);
  }
}
