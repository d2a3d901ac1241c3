import { type ChainConfig, nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readSearchText } from '../../lib/text/search-text.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import { browseUnmatched, exportUnmatched, type UnmatchedRow } from '../../payments/unmatched/browse.ts';
import { refundOfPaymentCells, refundOfPaymentHeader } from '../../refunds/export-columns.ts';
import type { RefundRow } from '../../refunds/read.ts';
import { readRefunds } from '../../refunds/read.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { shortAddress } from '../../ui/components.ts';
import { ago } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { csvMicro } from '../../web/csv-amounts.ts';
import { sendCsv } from '../../web/download.ts';
import { paymentAmount, symbolOf } from '../../web/payment-amount.ts';
import { readQuery } from '../../web/query.ts';
import { refundBadge } from '../../web/refunded.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { dashboardEventsPath } from '../live.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { sendDashboard } from '../shell.ts';

const path = '/dashboard/unmatched';
const csvPath = '/dashboard/unmatched.csv';

const transferOf = (row: UnmatchedRow) => ({
  chainId: Number(row.chain_id),
  txHash: row.tx_hash,
  ordinal: row.ordinal,
});
const keyOf = (row: UnmatchedRow) => writeTransferKey(transferOf(row));

/** `GET /dashboard/unmatched`: payments that belong to no request, each with its reason; also as CSV. */
export function unmatchedList(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showList(ctx, visit));
  pages.page({ url: csvPath }, ({ session, reply }) => {
    const chains = ctx.chains[modeOf(session.scope.testMode)];
    const rows = exportUnmatched(ctx, session.scope, { accountId: session.accountId });
    return sendCsv(reply, 'unmatched', csvHeader, csvRows(ctx, session.scope, rows, chains));
  });
}

/**
 * The merchant's unmatched payments of a transaction or payer, or those probably meant for a request; null if there are
 * none.
 */
export async function unmatchedNamed(
  ctx: Context,
  { scope, accountId }: MerchantVisit['session'],
  words: Words,
  typed: string,
): Promise<Html | null> {
  const search = {
    words: readSearchText(typed),
    chainIds: ctx.chains[modeOf(scope.testMode)].map((one) => one.chainId),
  };
  if (!search.words.hash && !search.words.address && !search.words.id) return null;
  const { rows } = await browseUnmatched(ctx, scope, { accountId, search }, null);
  if (rows.length === 0) return null;
  const refunds = await readRefunds(ctx.db, scope, rows.map(transferOf));
  return html`
    <h2>${dashboardTexts(words).unmatched.title}</h2>
    ${unmatchedTable(words, rows, refunds, tableOf(ctx, scope))}
  `;
}

async function showList(ctx: Context, visit: MerchantVisit) {
  const { session, words, request } = visit;
  const { unmatched: t } = dashboardTexts(words);
  const query = readQuery(request.query, ['after']);
  const { rows, next } = await browseUnmatched(
    ctx,
    session.scope,
    { accountId: session.accountId },
    query.after ?? null,
  );
  const refunds = await readRefunds(ctx.db, session.scope, rows.map(transferOf));
  const list =
    rows.length > 0
      ? unmatchedTable(words, rows, refunds, tableOf(ctx, session.scope))
      : emptyState(t.none, t.noneRest);
  return sendDashboard(ctx, visit, {
    path,
    title: t.title,
    body: html`
      <p>${t.rest}${rows.length > 0 && html` <a href="${csvPath}" download>${commonTexts(words).app.csv}</a>`}</p>
      <div class="list" data-live="${dashboardEventsPath()}" data-region="list">
        ${list}
        ${pager(words, path, query, next)}
      </div>
    `,
  });
}

const tableOf = (ctx: Context, { testMode }: Scope) => ({ chains: ctx.chains[modeOf(testMode)], now: ctx.clock.now() });

function unmatchedTable(
  words: Words,
  rows: UnmatchedRow[],
  refunds: Map<string, RefundRow>,
  { chains, now }: ReturnType<typeof tableOf>,
) {
  const { unmatched: t, reason } = dashboardTexts(words);
  return table<UnmatchedRow>(
    t.title,
    [
      {
        name: t.amount,
        cell: (row) => html`<a href="${path}/${keyOf(row)}">${paymentAmount(words, chains, row)}</a>`,
      },
      {
        name: t.why,
        cell: (row) => {
          const refund = refunds.get(keyOf(row));
          return refund ? refundBadge(words, refund) : reason[row.reason ?? 'no_match'];
        },
      },
      { name: t.from, cell: (row) => shortAddress(row.from_address) },
      { name: t.when, cell: (row) => ago(words, row.block_time, now) },
    ],
    rows,
  );
}

const csvHeader = [
  ...['block_time', 'network', 'tx_hash', 'usdc', 'from_address', 'to_address', 'reason', 'seems_for'],
  ...refundOfPaymentHeader,
];

async function* csvRows(
  ctx: Context,
  scope: Scope,
  batches: AsyncIterable<UnmatchedRow[]>,
  chains: ChainConfig[],
): AsyncGenerator<CsvRow[]> {
  for await (const batch of batches) {
    const refunds = await readRefunds(ctx.db, scope, batch.map(transferOf));
    yield batch.map((row) => [
      row.block_time,
      nameOfChain(chains, row.chain_id),
      ...[
        row.tx_hash,
        symbolOf(chains, row) && csvMicro(row.value),
        row.from_address,
        row.to_address,
        row.reason ?? 'no_match',
      ],
      row.candidate_request_id,
      ...refundOfPaymentCells(refunds.get(keyOf(row))),
    ]);
  }
}
