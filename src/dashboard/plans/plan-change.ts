import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { html } from '../../lib/text/html.ts';
import { usualReserve } from '../../plans/collection-form.ts';
import { isAmountFault, type PlanFaults, type PlanFields, readPlanChange } from '../../plans/form.ts';
import { type PlanRow, readPlan } from '../../plans/read.ts';
import { changeTerms } from '../../plans/terms.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { card, field, stateLine } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { amountToType } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { planName } from '../../web/plan-words.ts';
import { isUntouched, shownFields, shownIn } from '../../web/shown.ts';
import { exampleOf, requestFaultText } from '../home/new-request.ts';
import type { FormFields, MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { collectionFields, noAutomatic } from './collection-fields.ts';

const path = '/dashboard/plans';

/** `GET` and `POST /dashboard/plans/<id>/change`: the amount of a plan's charges, and how they are paid. */
export function planChangePages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: `${path}/:id/change` }, async (visit) => {
    const plan = await planIn(ctx, visit);
    return showForm(ctx, visit, plan, formOf(ctx, visit, plan));
  });
  pages.form({ url: `${path}/:id/change` }, (visit) => change(ctx, visit));
}

function planIn(ctx: Context, { request, session }: MerchantVisit): Promise<PlanRow> {
  return readPlan(ctx, session.scope, session.accountId, (request.params as { id: string }).id);
}

async function change(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { fields, merchant, session, reply } = visit;
  const plan = await planIn(ctx, visit);
  const currency = fields.currency ?? merchant.display_currency;
  // Amounts in another currency say nothing about those of now.
  const isOf = currency === merchant.display_currency;
  const sent = isOf ? withUntouched(fields, formOf(ctx, visit, plan).typed) : { typed: fields, shown: {} };
  const collect = noAutomatic(ctx, visit) === null ? sent.typed.collect : 'link';
  const read = readPlanChange({ ...sent.typed, collect }, currency);
  if ('faults' in read) return showForm(ctx, visit, plan, sent, read.faults);
  const { scope, accountId } = session;
  try {
    const done = await changeTerms(ctx, merchantActor(visit), { scope, accountId, id: plan.id }, read.change, currency);
    return reply.redirect(`${path}/${plan.id}${done ? '?done=planChanged' : ''}`, 303);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'currency_mismatch') throw error;
    return showForm(ctx, visit, plan, sent, {}, 409);
  }
}

const planFields = ['amount', 'collect', 'cap', 'reserve', 'past_due'] as const;
/** `typed`: what the fields hold. `shown`: what they held when the form was opened, where it says so. */
type ChangeForm = { typed: PlanFields; shown: PlanFields };

/** The form of a plan as it is. */
function formOf(ctx: Context, visit: MerchantVisit, plan: PlanRow): ChangeForm {
  const now = valuesOf(visit.words, plan, visit.merchant.display_currency);
  const typed = { ...now, collect: noAutomatic(ctx, visit) === null ? now.collect : 'link' };
  return { typed, shown: typed };
}

/**
 * A form that was sent, with what its sender did not touch as it is now. Somebody else may have changed the plan since
 * the form was opened, and a customer may have agreed to that.
 */
function withUntouched(fields: FormFields, now: PlanFields): ChangeForm {
  const shown = shownIn(planFields, (name) => fields[name]);
  const untouched = planFields.filter((name) => fields[name] !== undefined && isUntouched(shown[name], fields[name]));
  const kept = Object.fromEntries(untouched.map((name) => [name, now[name]]));
  return { typed: { ...fields, ...kept }, shown: { ...shown, ...kept } };
}

/** The values of a plan, its amounts only if its currency is still the merchant's. */
function valuesOf(words: Words, plan: PlanRow, currency: string): PlanFields {
  const collect = plan.collect;
  if (plan.fiat_code !== currency) return { collect, past_due: plan.after_past_due };
  const cap = plan.cap_fiat_int;
  return {
    amount: amountToType(words, BigInt(plan.fiat_int), currency),
    collect,
    cap: cap === null || cap === plan.fiat_int ? '' : amountToType(words, BigInt(cap), currency),
    reserve: String(collect === 'automatic' ? plan.reserve_percent : usualReserve(currency)),
    past_due: plan.after_past_due,
  };
}

function showForm(
  ctx: Context,
  visit: MerchantVisit,
  plan: PlanRow,
  { typed, shown }: ChangeForm,
  faults: PlanFaults = {},
  status = Object.keys(faults).length > 0 ? 400 : 200,
): Promise<FastifyReply> | FastifyReply {
  const { merchant, words, reply } = visit;
  const here = `${path}/${plan.id}`;
  if (plan.state === 'ended') return reply.redirect(here, 303);
  const { newRequest } = dashboardTexts(words);
  const { form: t } = mandateTexts(words);
  const currency = merchant.display_currency;
  const { amount: fault } = faults;
  return sendDashboard(ctx, visit, {
    path: `${here}/change`,
    title: fill(t.changeTitle, { name: planName(words, plan) }),
    status,
    body: html`
      <div class="narrow">
        ${
          plan.fiat_code !== currency &&
          stateLine('attention', fill(t.changeCurrency, { old: plan.fiat_code, currency }))
        }
        ${card(
          html`<p class="quiet">${t.changeRest} ${plan.collect === 'automatic' && t.changeAgain}</p>`,
          form({
            action: `${here}/change`,
            hidden: { currency },
            inside: html`
              ${shownFields(shown)}
              ${field({
                name: 'amount',
                label: fill(newRequest.amount, { currency }),
                hint: fill(newRequest.amountHint, { example: exampleOf(words, currency) }),
                value: typed.amount ?? '',
                fault: fault && isAmountFault(fault) ? requestFaultText(words, visit, fault) : undefined,
                attributes: 'required inputmode="decimal" autocomplete="off" maxlength="16"',
              })}
              ${collectionFields(words, currency, typed, faults, noAutomatic(ctx, visit))}
            `,
            submit: t.save,
          }),
        )}
      </div>
    `,
  });
}
