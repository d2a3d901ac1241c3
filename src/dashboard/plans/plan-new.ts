import type { FastifyReply } from 'fastify';
import { auditedIn } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html, raw } from '../../lib/text/html.ts';
import { createPlan } from '../../plans/create.ts';
import { longest, type NewPlan, type PlanFaults, type PlanField, readPlanForm } from '../../plans/form.ts';
import { dayOf, mostCharges, mostOpenPlans, nextDates, periods, yearAfter } from '../../plans/rules.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, descriptionList, field, hiddenField, stateLine } from '../../ui/components.ts';
import { fill, fillCount, isLanguage, languageName, languages, type Words, wordsFor } from '../../ui/language.ts';
import { exampleOf, formKey, sayFault } from '../home/new-request.ts';
import type { DashboardRoutes, MerchantVisit } from '../route.ts';
import { actorOf, sendDashboard } from '../shell.ts';
import { chargeHeading, dayHtml, dayText } from './plan-words.ts';

const path = '/dashboard/plans/new';
const shownDates = 6;
const fields = [
  ...['name', 'amount', 'customer_name', 'customer_email', 'customer_phone', 'every', 'period', 'first_on', 'ends'],
  ...['charges', 'metadata', 'language', 'currency', 'key'],
];

/** `GET /dashboard/plans/new`: the form; sent, it is looked over with its first dates, and then started. */
export function planNewPages(routes: DashboardRoutes, ctx: Context): void {
  routes.signedIn({ method: 'GET', url: path, handle: (visit) => showForm(ctx, visit, {}, null, 200) });
  routes.signedIn({ method: 'POST', url: path, handle: (visit) => take(ctx, visit) });
}

async function take(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { typed, merchant } = visit;
  if (typed.step === 'change') return showForm(ctx, visit, {}, null, 200);
  const currency = typed.currency ?? merchant.display_currency;
  const read = readPlanForm(typed, { currency, today: dayOf(ctx.clock.now()) });
  if ('faults' in read) return showForm(ctx, visit, read.faults, null, 400);
  return typed.step === 'start' ? start(ctx, visit, read.plan, currency) : review(ctx, visit, read.plan, currency);
}

async function start(ctx: Context, visit: MerchantVisit, plan: NewPlan, currency: string): Promise<FastifyReply> {
  const { typed, session, reply } = visit;
  const { scope, accountId } = session;
  const order = { accountId, currency, language: languageIn(visit), formKey: typed.key?.slice(0, 100) || formKey() };
  try {
    const made = await auditedIn(
      ctx,
      scope,
      actorOf(visit),
      (inner) => createPlan(inner, scope, plan, order),
      (outcome) =>
        outcome?.isNew
          ? {
              ...scope,
              action: 'plan.created',
              object: { kind: 'plan', id: outcome.row.id },
              details: {
                amount: plan.fiatInt,
                currency,
                every: plan.every,
                period: plan.period,
                charges: plan.maxCharges,
              },
            }
          : null,
    );
    if (!made) return showForm(ctx, visit, {}, 'tooMany', 409);
    return reply.redirect(`/dashboard/plans/${made.row.id}?done=planStarted`, 303);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code } = error;
    const isKnown = code === 'merchant_disabled' || code === 'partner_disabled' || code === 'currency_mismatch';
    return showForm(ctx, visit, {}, isKnown ? code : 'other', code === 'currency_mismatch' ? 409 : 403);
  }
}

/** The language in which the customer is to be written to: as chosen, else the reader's own. */
function languageIn({ typed, request }: MerchantVisit): Words['language'] {
  return isLanguage(typed.language) ? typed.language : wordsFor(request).language;
}

/** What was typed, once more as people read it, with the first dates. */
function review(ctx: Context, visit: MerchantVisit, plan: NewPlan, currency: string): Promise<FastifyReply> {
  const { typed, request } = visit;
  const words = wordsFor(request);
  const { plans: t } = dashboardTexts(words);
  const dates = nextDates({ ...plan, charges: 0, slot: 0 }, shownDates);
  const rest = plan.maxCharges === null ? t.never : fillCount(words, t.afterAll, plan.maxCharges);
  const hiddenFields = fields.flatMap((name) => (typed[name] === undefined ? [] : [hiddenField(name, typed[name])]));
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
          ]),
          html`
            <p class="quiet">
              ${plan.customerEmail === null ? t.noMail : t.mailed}
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

type FormFault = 'merchant_disabled' | 'partner_disabled' | 'currency_mismatch' | 'tooMany' | 'other';

async function showForm(
  ctx: Context,
  visit: MerchantVisit,
  faults: PlanFaults,
  failed: FormFault | null,
  status: number,
): Promise<FastifyReply> {
  const { typed, merchant, request } = visit;
  const words = wordsFor(request);
  const { newRequest, plans: t } = dashboardTexts(words);
  const today = dayOf(ctx.clock.now());
  const currency = merchant.display_currency;
  const say = (name: PlanField) => faultText(words, visit, faults, name, today);
  const example = exampleOf(currency);
  const isOff = merchant.disabled_by_partner || merchant.disabled_by_operator;
  const fault = failed ?? (isOff ? 'merchant_disabled' : null);
  const why =
    fault === 'tooMany' ? fill(t.tooMany, { most: mostOpenPlans }) : sayFault(words, visit, fault ?? undefined);
  return sendDashboard(ctx, visit, {
    path,
    title: t.make,
    status,
    body: html`
      ${fault !== null && html`<div role="alert">${stateLine('attention', t.off, why)}</div>`}
      <div class="narrow">
        ${card(html`
          <p class="quiet">${t.rest}</p>
          <form method="post" action="${path}">
            ${hiddenField('key', typed.key ?? formKey())}
            ${hiddenField('currency', currency)}
            ${field({
              name: 'name',
              label: t.what,
              hint: t.whatHint,
              value: typed.name ?? '',
              fault: say('name'),
              attributes: `required maxlength="${longest.name}" autocomplete="off"`,
            })}
            ${field({
              name: 'amount',
              label: fill(newRequest.amount, { currency }),
              hint: fill(newRequest.amountHint, { example }),
              value: typed.amount ?? '',
              fault: say('amount'),
              attributes: 'required inputmode="decimal" autocomplete="off" maxlength="16"',
            })}
            ${rhythm(words, visit, say('every'))}
            ${field({
              name: 'first_on',
              label: t.from,
              hint: fill(t.fromHint, { from: dayText(words, today), to: dayText(words, yearAfter(today)) }),
              value: typed.first_on ?? today,
              fault: say('first_on'),
              attributes: `required type="date" min="${today}" max="${yearAfter(today)}"`,
            })}
            ${endChoice(words, visit, say('charges'))}
            ${field({
              name: 'customer_name',
              label: newRequest.customer,
              value: typed.customer_name ?? '',
              fault: say('customer_name'),
              attributes: `required maxlength="${longest.customer_name}" autocomplete="off"`,
            })}
            ${field({
              name: 'customer_email',
              label: t.email,
              hint: t.emailHint,
              value: typed.customer_email ?? '',
              fault: say('customer_email'),
              attributes: `type="email" maxlength="${longest.customer_email}" autocomplete="off"`,
            })}
            ${languageChoice(words, visit)}
            ${field({
              name: 'customer_phone',
              label: t.phone,
              value: typed.customer_phone ?? '',
              fault: say('customer_phone'),
              attributes: `type="tel" maxlength="${longest.customer_phone}" autocomplete="off"`,
            })}
            ${field({
              name: 'metadata',
              label: t.metadata,
              hint: fill(t.metadataHint, { partner: merchant.partner_name }),
              value: typed.metadata ?? '',
              fault: say('metadata'),
              rows: 3,
              attributes: 'spellcheck="false"',
            })}
            <button name="step" value="review">${t.look}</button>
          </form>
        `)}
      </div>
    `,
  });
}

function faultText(
  words: Words,
  visit: MerchantVisit,
  faults: PlanFaults,
  name: PlanField,
  today: string,
): string | undefined {
  const fault = faults[name];
  if (fault === undefined) return undefined;
  if (fault === 'amount' || fault === 'tooMuch') return sayFault(words, visit, fault);
  const limits = { from: dayText(words, today), to: dayText(words, yearAfter(today)), most: mostCharges };
  return fill(dashboardTexts(words).plans.faults[fault], limits);
}

/** How often: a number and a period. */
function rhythm(words: Words, { typed }: MerchantVisit, fault: string | undefined): Html {
  const { plans } = dashboardTexts(words);
  const described = `every-hint${fault === undefined ? '' : ' every-fault'}`;
  const invalid = fault !== undefined && raw(' aria-invalid="true"');
  return html`
    <fieldset class="field boxes">
      <legend>${plans.often}</legend>
      <p class="quiet" id="every-hint">${plans.oftenHint}</p>
      <div class="pair">
        <input
          id="every"
          name="every"
          value="${typed.every ?? '1'}"
          aria-label="${plans.oftenCount}"
          aria-describedby="${described}"${invalid}
          required
          inputmode="numeric"
          maxlength="3"
          autocomplete="off"
        >
        <select id="period" name="period" aria-label="${plans.oftenPeriod}" aria-describedby="${described}">
          ${periods.map(
            (one) =>
              html`
                <option value="${one}"${one === (typed.period ?? 'month') && html` selected`}>
                  ${plans.units[one]}
                </option>
              `,
          )}
        </select>
      </div>
      ${fault !== undefined && html`<p class="fault" id="every-fault">${fault}</p>`}
    </fieldset>
  `;
}

function endChoice(words: Words, { typed }: MerchantVisit, fault: string | undefined): Html {
  const { plans } = dashboardTexts(words);
  const kinds = [
    ['never', plans.never],
    ['after', plans.after],
  ] as const;
  const chosen = typed.ends === 'after' ? 'after' : 'never';
  return html`
    <fieldset class="choice">
      <legend>${plans.long}</legend>
      ${kinds.map(
        ([value, name]) =>
          html`
            <label>
              <input type="radio" name="ends" value="${value}"${value === chosen && raw(' checked')}>
              <span>${name}</span>
            </label>
          `,
      )}
    </fieldset>
    ${field({
      name: 'charges',
      label: plans.chargesField,
      hint: fill(plans.chargesHint, { most: mostCharges }),
      value: typed.charges ?? '',
      fault,
      attributes: 'inputmode="numeric" maxlength="3" autocomplete="off"',
    })}
  `;
}

function languageChoice(words: Words, visit: MerchantVisit): Html {
  const { plans } = dashboardTexts(words);
  const chosen = languageIn(visit);
  return html`
    <div class="field">
      <label for="language">${plans.language}</label>
      <select id="language" name="language">
        ${languages.map(
          (one) =>
            html`
              <option value="${one}" lang="${one}"${one === chosen && html` selected`}>${languageName(one)}</option>
            `,
        )}
      </select>
    </div>
  `;
}
