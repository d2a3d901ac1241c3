import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { html } from '../../lib/text/html.ts';
import { dayOf } from '../../lib/time.ts';
import { createPlan } from '../../plans/create.ts';
import { type NewPlan, type PlanFaults, readPlanForm } from '../../plans/form.ts';
import { maxOpenPlans, maxPlansOfAddress, nextDates } from '../../plans/rules.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { card, descriptionList, hiddenField, stateLine } from '../../ui/components.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { dayHtml } from '../../web/plan-words.ts';
import { disabledText, formKey, requestFaultText } from '../home/new-request.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { collectionFacts, noAutomatic } from './collection-fields.ts';
import { languageIn, planForm } from './plan-form.ts';
import { chargeHeading } from './plan-words.ts';

const path = '/dashboard/plans/new';
const shownDates = 6;
const carriedFields = [
  ...['name', 'amount', 'customer_name', 'customer_email', 'customer_phone', 'every', 'period', 'first_on', 'ends'],
  ...['charges', 'metadata', 'language', 'currency', 'key', 'collect', 'cap', 'reserve', 'past_due'],
];

/**
 * `GET /dashboard/plans/new`: the form of a new plan. A submitted form is first shown for review with its first dates,
 * and then started.
 */
export function planNewPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showForm(ctx, visit, {}, null, 200));
  pages.form({ url: path }, (visit) => take(ctx, visit));
}

async function take(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { fields, merchant } = visit;
  if (fields.step === 'change') return showForm(ctx, visit, {}, null, 200);
  const currency = fields.currency ?? merchant.display_currency;
  const collect = noAutomatic(ctx, visit) === null ? fields.collect : 'link';
  const read = readPlanForm({ ...fields, collect }, { currency, today: dayOf(ctx.clock.now()) });
  if ('faults' in read) return showForm(ctx, visit, read.faults, null, 400);
  return fields.step === 'start' ? start(ctx, visit, read.plan, currency) : review(ctx, visit, read.plan, currency);
}

async function start(ctx: Context, visit: MerchantVisit, plan: NewPlan, currency: string): Promise<FastifyReply> {
  const { fields, session, reply } = visit;
  const { scope, accountId } = session;
  const order = { accountId, currency, language: languageIn(visit), formKey: fields.key?.slice(0, 100) || formKey() };
  try {
    const made = await createPlan(ctx, merchantActor(visit), scope, plan, order);
    if ('tooMany' in made)
      return showForm(ctx, visit, {}, made.tooMany === 'plans' ? 'tooMany' : 'tooManyOfAddress', 409);
    return reply.redirect(`/dashboard/plans/${made.id}?done=planStarted`, 303);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code } = error;
    const isKnown = code === 'merchant_disabled' || code === 'partner_disabled' || code === 'currency_mismatch';
    return showForm(ctx, visit, {}, isKnown ? code : 'other', code === 'currency_mismatch' ? 409 : 403);
  }
}

/** Shows the input for review, formatted, with the first dates. */
async function review(ctx: Context, visit: MerchantVisit, plan: NewPlan, currency: string): Promise<FastifyReply> {
  const { fields, words } = visit;
  const { plans: t } = dashboardTexts(words);
  const dates = nextDates({ ...plan, charges: 0, slot: 0 }, shownDates);
  const rest = plan.maxCharges === null ? t.never : fillCount(words, t.afterAll, plan.maxCharges);
  const hiddenFields = carriedFields.flatMap((name) =>
    fields[name] === undefined ? [] : [hiddenField(name, fields[name])],
  );
  return sendDashboard(ctx, visit, {
    path,
    title: t.review,
    body: html`
      <div class="narrow">
        ${card(
          chargeHeading(words, {
            fiat_int: String(plan.fiatInt),
            fiat_code: currency,
            every: plan.every,
            period: plan.period,
          }),
          descriptionList([
            [t.name, html`<span dir="auto">${plan.name}</span>`],
            [
              t.customer,
              html`
                <span dir="auto">
                  ${[plan.customerName, plan.customerEmail, plan.customerPhone].filter(Boolean).join(', ')}
                </span>
              `,
            ],
            [t.dates, html`<span class="dates">${dates.map((day) => dayHtml(words, day))}</span>`],
            [t.ends, rest],
            ...(await collectionFacts(ctx, words, plan, currency)),
          ]),
          html`
            <p class="quiet">
              ${mailText(words, plan)}
              ${dates[0] === dayOf(ctx.clock.now()) && ` ${t.atOnce}`}
            </p>
            <form method="post" action="${path}">
              ${hiddenFields}
              <div class="row">
                <button name="step" value="start">${t.start}</button>
                <button class="second" name="step" value="change">${t.change}</button>
              </div>
            </form>
          `,
        )}
      </div>
    `,
  });
}

/** What will be sent to whom, as shown before a plan is started. */
function mailText(words: Words, { collect, customerEmail }: NewPlan): string {
  const { plans } = dashboardTexts(words);
  const { form } = mandateTexts(words);
  if (collect === 'automatic') return customerEmail === null ? form.noMail : form.mailed;
  return customerEmail === null ? plans.noMail : plans.mailed;
}

type FormFault =
  | 'merchant_disabled'
  | 'partner_disabled'
  | 'currency_mismatch'
  | 'tooMany'
  | 'tooManyOfAddress'
  | 'other';

async function showForm(
  ctx: Context,
  visit: MerchantVisit,
  faults: PlanFaults,
  failed: FormFault | null,
  status: number,
): Promise<FastifyReply> {
  const { words } = visit;
  const { plans: t } = dashboardTexts(words);
  const why =
    failed === 'tooMany'
      ? fill(t.tooMany, { max: maxOpenPlans })
      : failed === 'tooManyOfAddress'
        ? fill(t.tooManyOfAddress, { max: maxPlansOfAddress })
        : failed === null
          ? disabledText(words, visit)
          : requestFaultText(words, visit, failed);
  return sendDashboard(ctx, visit, {
    path,
    title: t.make,
    status,
    body: html`
      ${why !== undefined && html`<div role="alert">${stateLine('attention', t.off, why)}</div>`}
      <div class="narrow">
        ${card(html`
          <p class="quiet">${t.rest}</p>
          ${planForm(ctx, visit, { action: path, faults, today: dayOf(ctx.clock.now()) })}
        `)}
      </div>
    `,
  });
}
