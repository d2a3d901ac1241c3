import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type BrowsedPlan, browsePlans, exportBrowsedPlans, type PlanBrowseFilter } from '../../plans/browse.ts';
import { planDisplayStatus, planDisplayStatuses } from '../../plans/read.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { portalTexts } from '../../texts/portal.ts';
import type { Words } from '../../ui/language.ts';
import { csvFiat } from '../../web/csv-amounts.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { chargeText, dayHtml, planBadge, planName } from '../../web/plan-words.ts';
import { linkWith, oneOf, readQuery } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import { accountsFor, merchantFilter } from '../merchants/merchant-choice.ts';
import type { PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

export const plansPath = '/portal/plans';
const csvPath = `${plansPath}.csv`;
const names = ['state', 'account_id', 'after'] as const;

/** `GET /portal/plans`: the recurring payments of the partner's merchants, also as CSV. */
export function plansList(pages: PortalPages, ctx: Context): void {
  pages.page({ url: plansPath, permission: 'read' }, async (call) => {
    const { words, scope, mode, request, reply } = call;
    const { plans: t } = dashboardTexts(words);
    const portal = portalTexts(words);
    const query = readQuery(request.query, names);
    const { rows, next } = await browsePlans(ctx, scope, await filterOf(ctx, scope, query), query.after ?? null);
    const merchant = await merchantFilter(ctx, call, query.account_id);
    const isFiltered = names.some((name) => query[name] !== undefined);
    const nothing = isFiltered
      ? emptyState(t.none, portal.requests.noneRest)
      : emptyState(t.first, portal.plans.firstRest);
    return sendPortal(ctx, reply, call, {
      path: plansPath,
      title: portal.places.plans,
      body: html`
        ${filters(words, plansPath, query, choices(words, merchant), csvPath)}
        <div class="list" data-live="${portalEventsPath(mode)}" data-region="list">
          ${rows.length > 0 ? planTable(words, rows) : nothing}
          ${pager(words, plansPath, query, next)}
        </div>
      `,
    });
  });

  pages.page({ url: csvPath, permission: 'read' }, async ({ scope, mode, request, reply }) => {
    const rows = exportBrowsedPlans(ctx, scope, await filterOf(ctx, scope, readQuery(request.query, names)));
    return sendCsv(reply, `plans-${mode}`, csvHeader, csvOf(rows, csvRow));
  });
}

async function filterOf(ctx: Context, scope: Scope, query: Record<string, string>): Promise<PlanBrowseFilter> {
  const displayStatus = oneOf(planDisplayStatuses, query.state) ?? null;
  return { displayStatus, ...(await accountsFor(ctx, scope, query.account_id)) };
}

function choices(words: Words, merchant: Filter): Filter[] {
  const { plans } = dashboardTexts(words);
  return [
    {
      kind: 'choice',
      name: 'state',
      label: plans.state,
      options: planDisplayStatuses.map((one) => [one, plans.displayStatus[one]]),
    },
    merchant,
  ];
}

function planTable(words: Words, rows: BrowsedPlan[]): Html {
  const { plans: t } = dashboardTexts(words);
  const portal = portalTexts(words);
  return table<BrowsedPlan>(
    portal.places.plans,
    [
      {
        name: t.name,
        cell: (row) => html`<a class="clip" dir="auto" href="${plansPath}/${row.id}">${planName(words, row)}</a>`,
      },
      {
        name: portal.requests.merchant,
        cell: (row) =>
          html`
            <a href="${linkWith(plansPath, {}, { account_id: row.account_id })}">
              ${row.merchant_name ?? portal.requests.unnamed}
            </a>
          `,
      },
      {
        name: t.customer,
        cell: (row) => row.customer_name && html`<span class="clip" dir="auto">${row.customer_name}</span>`,
      },
      { name: t.each, cell: (row) => chargeText(words, row) },
      { name: t.state, cell: (row) => planBadge(words, planDisplayStatus(row)) },
      { name: t.next, cell: (row) => (row.state === 'active' && row.next_on ? dayHtml(words, row.next_on) : null) },
    ],
    rows,
  );
}

const csvHeader = [
  ...['plan_id', 'created_at', 'account_id', 'merchant', 'state', 'name', 'customer_name', 'fiat_amount'],
  ...['fiat_currency', 'every', 'period', 'collect', 'first_on', 'next_on', 'charges', 'ends_after', 'ended_at'],
  'metadata',
];

const csvRow = (row: BrowsedPlan): CsvRow => [
  ...[row.id, row.created_at, row.account_id, row.merchant_name, planDisplayStatus(row), row.name],
  ...[row.customer_name, csvFiat(row.fiat_int, row.fiat_code), row.fiat_code, row.every, row.period],
  ...[row.collect, row.first_on, row.next_on, row.charges, row.max_charges, row.ended_at, row.metadata],
];
