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
import { exampleOf, requestFaultText } from '../home/new-request.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { collectionFields, noAutomatic } from './collection-fields.ts';

const path = '/dashboard/plans';

/** `GET` and `POST /dashboard/plans/<id>/change`: the amount of a plan's charges, and how they are paid. */
export function planChangePages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: `${path}/:id/change` }, async (visit) => showForm(ctx, visit, await planIn(ctx, visit), {}, 200));
  pages.form({ url: `${path}/:id/change` }, (visit) => change(ctx, visit));
}

function planIn(ctx: Context, { request, session }: MerchantVisit): Promise<PlanRow> {
  return readPlan(ctx, session.scope, session.accountId, (request.params as { id: string }).id);
}

async function change(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { fields, merchant, session, reply } = visit;
  const plan = await planIn(ctx, visit);
  const currency = fields.currency ?? merchant.display_currency;
  const collect = noAutomatic(ctx, visit) === null ? fields.collect : 'link';
  const read = readPlanChange({ ...fields, collect }, currency);
  if ('faults' in read) return showForm(ctx, visit, plan, read.faults, 400);
  const { scope, accountId } = session;
  try {
    const done = await changeTerms(ctx, merchantActor(visit), { scope, accountId, id: plan.id }, read.change, currency);
    return reply.redirect(`${path}/${plan.id}${done ? '?done=planChanged' : ''}`, 303);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'currency_mismatch') throw error;
    return showForm(ctx, visit, plan, {}, 409);
  }
}

/**
 * The values of the form: as typed, otherwise from the plan. Amounts of the plan only if its currency is still the
 * merchant's.
 */
function typedOr(words: Words, plan: PlanRow, fields: PlanFields, currency: string): PlanFields {
  if (fields.amount !== undefined) return fields;
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
  faults: PlanFaults,
  status: number,
): Promise<FastifyReply> | FastifyReply {
  const { merchant, words, fields, reply } = visit;
  const here = `${path}/${plan.id}`;
  if (plan.state === 'ended') return reply.redirect(here, 303);
  const { newRequest } = dashboardTexts(words);
  const { form: t } = mandateTexts(words);
  const currency = merchant.display_currency;
  const typed = typedOr(words, plan, fields, currency);
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
