import type { FastifyReply } from 'fastify';
import type { Actor } from '../../audit/actions.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { dayOf } from '../../lib/time.ts';
import { type ChargeFailure, chargeFailures } from '../../plans/charge.ts';
import { endPlan, type PlanOf, pausePlan, resumePlan } from '../../plans/lifecycle.ts';
import { stopByMerchant } from '../../plans/mandates/stop.ts';
import {
  type ChargeRow,
  courseOf,
  exportCharges,
  listCharges,
  type PlanRow,
  planDisplayStatus,
  readPlan,
} from '../../plans/read.ts';
import { afterPause, nextDates } from '../../plans/rules.ts';
import { chargesTexts } from '../../texts/charges.ts';
import { type DashboardTexts, dashboardTexts } from '../../texts/dashboard.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { card, descriptionList, stateLine } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { confirmButton } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fill, fillHtml, languageName, type Words } from '../../ui/language.ts';
import { csvFiat, csvMicro } from '../../web/csv-amounts.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { dateText, dayHtml, noCharges, planBadge, planName } from '../../web/plan-words.ts';
import { readQuery } from '../../web/query.ts';
import { csvLink, pager, table } from '../../web/table.ts';
import { dashboardStatusBadge, dashboardStatusOf } from '../home/display-status.ts';
import { dashboardEventsPath } from '../live.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { automaticCard } from './automatic-card.ts';
import { collectionCell } from './charge-words.ts';
import { chargeHeading, waitingCard } from './plan-words.ts';

const path = '/dashboard/plans';
const shownDates = 3;

type Act = {
  done: keyof DashboardTexts['done'];
  work: (ctx: Context, actor: Actor, plan: PlanOf) => Promise<boolean>;
};
const acts: Record<'pause' | 'resume' | 'end', Act> = {
  pause: { done: 'planPaused', work: pausePlan },
  resume: { done: 'planResumed', work: resumePlan },
  end: { done: 'planEnded', work: endPlan },
};

/**
 * `GET /dashboard/plans/<id>`: one plan and its charges, the charges also as CSV. `POST …/pause`, `…/resume` and
 * `…/end` control the plan, and `…/stop-automatic` ends automatic charges.
 */
export function planPage(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: `${path}/:id` }, (visit) => showPlan(ctx, visit));
  pages.page({ url: `${path}/:id/charges.csv` }, (visit) => sendCharges(ctx, visit));
  pages.form({ url: `${path}/:id/stop-automatic` }, (visit) =>
    change(ctx, visit, { done: 'automaticStopped', work: stopByMerchant }),
  );
  for (const [name, act] of Object.entries(acts)) {
    pages.form({ url: `${path}/:id/${name}` }, (visit) => change(ctx, visit, act));
  }
}

const csvHeader = [
  ...['number', 'due_on', 'request_id', 'made_at', 'status', 'proof_status'],
  ...['automatic_charge', 'automatic_charge_reason', 'next_attempt_at', 'fiat_amount', 'fiat_currency', 'usdc'],
];

const idIn = ({ request }: MerchantVisit) => (request.params as { id: string }).id;

/** Runs an act. If the plan's state no longer allows it, the page just shows the current state. */
async function change(ctx: Context, visit: MerchantVisit, { done, work }: Act): Promise<FastifyReply> {
  const { scope, accountId } = visit.session;
  const id = idIn(visit).toLowerCase();
  const changed = await work(ctx, merchantActor(visit), { scope, accountId, id });
  return visit.reply.redirect(`${path}/${id}${changed ? `?done=${done}` : ''}`, 303);
}

async function sendCharges(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { scope, accountId } = visit.session;
  const { id } = await readPlan(ctx, scope, accountId, idIn(visit));
  return sendCsv(
    visit.reply,
    'charges',
    csvHeader,
    csvOf(exportCharges(ctx, scope, id), (row) => [
      ...[row.number, row.due_on, row.request_id, row.made_at, row.status, row.proof_status],
      ...[row.collection, row.collect_reason, row.next_attempt_at],
      ...[csvFiat(row.fiat_int, row.fiat_code), row.fiat_code, csvMicro(row.usdc_micro)],
    ]),
  );
}

async function showPlan(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, words, request } = visit;
  const { scope, accountId } = session;
  const { plans: t } = dashboardTexts(words);
  const query = readQuery(request.query, ['after']);
  const plan = await readPlan(ctx, scope, accountId, idIn(visit));
  const { rows, next } = await listCharges(ctx, scope, plan.id, query.after ?? null);
  const here = `${path}/${plan.id}`;
  return sendDashboard(ctx, visit, {
    path: here,
    title: planName(words, plan),
    body: html`
      <div class="list" data-live="${dashboardEventsPath()}" data-region="plan">
        ${plan.state === 'active' && plan.failure === null && waitingCard(words, visit)}
        ${failureCard(words, visit, plan)}
        ${
          plan.mails_stopped_at !== null &&
          plan.state !== 'ended' &&
          card(stateLine('attention', t.mailsStopped, t.noMail))
        }
        <div class="two">
          <div class="list">
            ${factsCard(words, plan)}
            ${await automaticCard(ctx, words, scope, plan)}
          </div>
          <section class="list">
            <h2>${t.charges}</h2>
            ${rows.length > 0 ? chargeTable(words, rows) : noCharges(words, plan)}
            ${pager(words, here, query, next)}
            ${rows.length > 0 && csvLink(words, `${here}/charges.csv`)}
          </section>
        </div>
        ${actsOf(ctx, words, plan)}
      </div>
    `,
  });
}

/** Why the charge that is due could not be created, and what helps. */
function failureCard(words: Words, { merchant }: MerchantVisit, plan: PlanRow): Html | null {
  const { failure, failed_at, due_at, next_on } = plan;
  if (failure === null || failed_at === null || due_at === null || next_on === null) return null;
  const { plans: t } = dashboardTexts(words);
  const reason: ChargeFailure = chargeFailures.find((one) => one === failure) ?? 'other';
  const why = fill(t.failures[reason], { partner: merchant.partner_name, currency: plan.fiat_code });
  const times = fillHtml(t.retry, { since: instant(words, failed_at), time: instant(words, due_at) });
  return card(
    html`
      <div>
        ${stateLine('attention', fill(t.failed, { date: dateText(words, next_on) }), why)}
        <p class="after-state quiet">${times}</p>
        <p class="after-state quiet">${t.missed}</p>
      </div>
    `,
  );
}

function factsCard(words: Words, plan: PlanRow): Html {
  const { plans: t } = dashboardTexts(words);
  const customer = [plan.customer_name, plan.customer_email, plan.customer_phone].filter((part) => part !== null);
  const dates = plan.state === 'active' ? nextDates(courseOf(plan), shownDates) : [];
  const language = [plan.language].map((one) => languageName(one as Words['language']));
  const ends =
    plan.max_charges === null ? t.never : fill(t.afterCharges, { made: plan.charges, count: plan.max_charges });
  return card(
    html`<p>${planBadge(words, planDisplayStatus(plan))}</p>${chargeHeading(words, plan)}`,
    descriptionList([
      dates.length > 0 ? [t.ahead, html`<span class="dates">${dates.map((day) => dayHtml(words, day))}</span>`] : null,
      customer.length > 0
        ? [t.customer, html`<span dir="auto">${customer.join(', ')}</span>`]
        : [t.customer, t.forgotten],
      plan.customer_email === null ? null : [t.language, language.join()],
      [t.began, dayHtml(words, plan.first_on)],
      plan.ended_at === null ? [t.ends, ends] : [t.ended, instant(words, plan.ended_at)],
      ...metadataFacts(plan),
      copyableFact(words, t.number, plan.id),
    ]),
  );
}

function metadataFacts({ metadata }: PlanRow): [string, Html][] {
  const pairs = Object.entries(JSON.parse(metadata) as Record<string, string>);
  return pairs.map(([key, value]) => [key, html`<span dir="auto">${value}</span>`]);
}

function chargeTable(words: Words, rows: ChargeRow[]): Html {
  const { plans: t } = dashboardTexts(words);
  return table<ChargeRow>(
    t.charges,
    [
      {
        name: t.due,
        cell: (row) => html`<a href="/dashboard/payments/${row.request_id}">${dayHtml(words, row.due_on)}</a>`,
      },
      { name: t.count, figures: true, cell: (row) => String(row.number) },
      { name: t.state, cell: (row) => dashboardStatusBadge(words, dashboardStatusOf(row)) },
      ...(rows.some(({ collection }) => collection !== null)
        ? [{ name: chargesTexts(words).column, cell: (row: ChargeRow) => collectionCell(words, row) }]
        : []),
    ],
    rows,
  );
}

/** The acts that the plan's state allows. Each asks for confirmation. */
function actsOf({ clock }: Context, words: Words, plan: PlanRow): Html | null {
  const { plans: t } = dashboardTexts(words);
  const name = planName(words, plan);
  const confirmAct = (
    act: keyof typeof acts,
    texts: { label: string; title: string; follows: string },
    danger: boolean,
  ) =>
    confirmButton(
      {
        label: texts.label,
        title: fill(texts.title, { name }),
        consequence: texts.follows,
        action: `${path}/${plan.id}/${act}`,
        ...(danger && { danger: true as const }),
      },
      null,
    );
  if (plan.state === 'ended') return null;
  const date = dateText(words, afterPause(courseOf(plan), dayOf(clock.now())).nextOn);
  const first =
    plan.state === 'active'
      ? confirmAct('pause', t.pause, false)
      : confirmAct(
          'resume',
          { label: t.resume.label, title: t.resume.title, follows: fill(t.resume.follows, { date }) },
          false,
        );
  const changeLink = html`
    <a class="button second" href="${path}/${plan.id}/change">${mandateTexts(words).form.change}</a>
  `;
  return html`<div class="row">${changeLink}${first}${confirmAct('end', t.end, true)}</div>`;
}
