import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type BrowsedPlan, readBrowsedPlan } from '../../plans/browse.ts';
import { type ChargeRow, courseOf, listCharges, planDisplayStatus } from '../../plans/read.ts';
import { nextDates } from '../../plans/rules.ts';
import { chargesTexts } from '../../texts/charges.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { portalTexts } from '../../texts/portal.ts';
import { card, descriptionList } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { chargeText, dayHtml, noCharges, planBadge, planName } from '../../web/plan-words.ts';
import { readQuery } from '../../web/query.ts';
import { requestStatusBadge } from '../../web/request-status.ts';
import { pager, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import type { PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { plansPath } from './plans.ts';

const shownDates = 3;

/** `GET /portal/plans/<plan_id>`: one plan of a merchant, read only: its terms and its charges. */
export function planDetail(pages: PortalPages, ctx: Context): void {
  pages.page({ url: `${plansPath}/:plan_id`, permission: 'read' }, async (call) => {
    const { words, scope, mode, request, reply } = call;
    const query = readQuery(request.query, ['after']);
    const plan = await readBrowsedPlan(ctx, scope, call.param('plan_id'));
    const { rows, next } = await listCharges(ctx, scope, plan.id, query.after ?? null);
    const { plans: t } = dashboardTexts(words);
    const here = `${plansPath}/${plan.id}`;
    return sendPortal(ctx, reply, call, {
      path: here,
      otherModePath: plansPath,
      title: planName(words, plan),
      body: html`
        <p><a href="${plansPath}">${portalTexts(words).plans.back}</a></p>
        <div class="list" data-live="${portalEventsPath(mode)}" data-region="plan">
          <div class="row">${planBadge(words, planDisplayStatus(plan))}</div>
          <div class="two">
            ${factsCard(words, plan)}
            <section class="list">
              <h2>${t.charges}</h2>
              ${rows.length > 0 ? chargeTable(words, rows) : noCharges(words, plan)}
              ${pager(words, here, query, next)}
            </section>
          </div>
        </div>
      `,
    });
  });
}

function factsCard(words: Words, plan: BrowsedPlan): Html {
  const { plans: t } = dashboardTexts(words);
  const { plans, requests } = portalTexts(words);
  const customer = [plan.customer_name, plan.customer_email, plan.customer_phone].filter((part) => part !== null);
  const dates = plan.state === 'active' ? nextDates(courseOf(plan), shownDates) : [];
  const merchant = plan.merchant_name ?? requests.unnamed;
  const ends =
    plan.max_charges === null ? t.never : fill(t.afterCharges, { made: plan.charges, count: plan.max_charges });
  const pairs = Object.entries(JSON.parse(plan.metadata) as Record<string, string>);
  return card(
    descriptionList([
      [t.each, chargeText(words, plan)],
      [requests.merchant, html`<a href="/portal/merchants/${plan.account_id}">${merchant}</a>`],
      [
        t.customer,
        customer.length > 0 ? html`${customer.map((part) => html`<p dir="auto">${part}</p>`)}` : t.forgotten,
      ],
      [plans.collect, plans.collects[plan.collect]],
      dates.length > 0 ? [t.ahead, html`<span class="dates">${dates.map((day) => dayHtml(words, day))}</span>`] : null,
      [t.began, dayHtml(words, plan.first_on)],
      plan.ended_at === null ? [t.ends, ends] : [t.ended, instant(words, plan.ended_at)],
      ...pairs.map(([key, value]): [string, Html] => [key, html`<span dir="auto">${value}</span>`]),
      copyableFact(words, t.number, plan.id),
    ]),
  );
}

/** The status of a charge's request. */
function chargeStatus({ status, proof_status }: ChargeRow): Parameters<typeof requestStatusBadge>[1] {
  if (proof_status === 'verified') return 'paid';
  if (proof_status === 'attached') return 'confirming';
  return status as 'requested' | 'opened' | 'expired' | 'voided';
}

function chargeTable(words: Words, rows: ChargeRow[]): Html {
  const { plans: t } = dashboardTexts(words);
  const charges = chargesTexts(words);
  return table<ChargeRow>(
    t.charges,
    [
      {
        name: t.due,
        cell: (row) => html`<a href="/portal/requests/${row.request_id}">${dayHtml(words, row.due_on)}</a>`,
      },
      { name: t.count, figures: true, cell: (row) => String(row.number) },
      { name: t.state, cell: (row) => requestStatusBadge(words, chargeStatus(row)) },
      ...(rows.some(({ collection }) => collection !== null)
        ? [{ name: charges.column, cell: (row: ChargeRow) => row.collection && charges.states[row.collection] }]
        : []),
    ],
    rows,
  );
}
