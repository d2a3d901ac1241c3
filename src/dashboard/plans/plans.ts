import type { Context } from '../../context.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readTroubled, type TroubledRow } from '../../plans/collect/read.ts';
import {
  exportPlans,
  listPlans,
  type PlanDisplayStatus,
  type PlanRow,
  planDisplayStatus,
  planDisplayStatuses,
} from '../../plans/read.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import type { Words } from '../../ui/language.ts';
import { csvFiat } from '../../web/csv-amounts.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { chargeText, dayHtml, planBadge, planName } from '../../web/plan-words.ts';
import { oneOf, readQuery } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { dashboardEventsPath } from '../live.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { sendDashboard } from '../shell.ts';
import { withTrouble } from './charge-words.ts';
import { waitingCard } from './plan-words.ts';

const path = '/dashboard/plans';
const csvPath = '/dashboard/plans.csv';
const names = ['state', 'after'] as const;

/** `GET /dashboard/plans`: the merchant's recurring payments, also as CSV. */
export function planList(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showList(ctx, visit));
  pages.page({ url: csvPath }, ({ session, request, reply }) => {
    const rows = exportPlans(ctx, session.scope, session.accountId, displayStatusIn(readQuery(request.query, names)));
    return sendCsv(reply, 'plans', csvHeader, csvOf(rows, csvRow));
  });
}

const displayStatusIn = (query: Record<string, string>): PlanDisplayStatus | null =>
  oneOf(planDisplayStatuses, query.state) ?? null;

async function showList(ctx: Context, visit: MerchantVisit) {
  const { session, words, request } = visit;
  const { plans: t } = dashboardTexts(words);
  const query = readQuery(request.query, names);
  const { scope, accountId } = session;
  const { rows, next } = await listPlans(ctx, scope, accountId, displayStatusIn(query), query.after ?? null);
  const troubled = await readTroubled(
    ctx,
    scope,
    rows.map(({ id }) => id),
  );
  const filtered = names.some((name) => query[name] !== undefined);
  const nothing = filtered ? emptyState(t.none, t.noneRest) : emptyState(t.first, t.firstRest);
  return sendDashboard(ctx, visit, {
    path,
    title: t.title,
    body: html`
      ${waitingCard(words, visit)}
      <p class="row"><a class="button primary" href="${path}/new">${t.make}</a></p>
      ${filters(words, path, query, choices(words), csvPath)}
      <div class="list" data-live="${dashboardEventsPath()}" data-region="list">
        ${rows.length > 0 ? planTable(words, rows, troubled) : nothing}
        ${pager(words, path, query, next)}
      </div>
    `,
  });
}

function choices(words: Words): Filter[] {
  const { plans } = dashboardTexts(words);
  const options = planDisplayStatuses.map((one): [string, string] => [one, plans.displayStatus[one]]);
  return [{ kind: 'choice', name: 'state', label: plans.state, options }];
}

function planTable(words: Words, rows: PlanRow[], troubled: Map<string, TroubledRow>): Html {
  const { plans: t } = dashboardTexts(words);
  return table<PlanRow>(
    t.title,
    [
      {
        name: t.name,
        cell: (row) => html`<a class="clip" dir="auto" href="${path}/${row.id}">${planName(words, row)}</a>`,
      },
      {
        name: t.customer,
        cell: (row) => row.customer_name && html`<span class="clip" dir="auto">${row.customer_name}</span>`,
      },
      { name: t.each, cell: (row) => chargeText(words, row) },
      {
        name: t.state,
        cell: (row) => withTrouble(words, planBadge(words, planDisplayStatus(row)), troubled.get(row.id)),
      },
      { name: t.next, cell: (row) => (row.state === 'active' && row.next_on ? dayHtml(words, row.next_on) : null) },
    ],
    rows,
  );
}

const csvHeader = [
  ...['plan_id', 'created_at', 'state', 'name', 'customer_name', 'customer_email', 'customer_phone', 'fiat_amount'],
  ...['fiat_currency', 'every', 'period', 'first_on', 'next_on', 'charges', 'ends_after', 'ended_at', 'metadata'],
];

function csvRow(row: PlanRow): CsvRow {
  return [
    ...[row.id, row.created_at, planDisplayStatus(row), row.name, row.customer_name, row.customer_email],
    ...[row.customer_phone, csvFiat(row.fiat_int, row.fiat_code), row.fiat_code, row.every, row.period],
    ...[row.first_on, row.next_on, row.charges, row.max_charges, row.ended_at, row.metadata],
  ];
}
