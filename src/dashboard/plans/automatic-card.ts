import { nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { planPageUrl } from '../../plans/link.ts';
import { type MandateRow, readLatestMandate } from '../../plans/mandates/read.ts';
import type { PlanRow } from '../../plans/read.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { card, descriptionList, qr, shortAddress, stateLine } from '../../ui/components.ts';
import { confirmButton } from '../../ui/form.ts';
import { groupMicro, instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { planName } from '../../web/plan-words.ts';
import { capText } from './collection-fields.ts';

/**
 * What a plan's customer has agreed to, and the link and code with which to agree; null for a plan that is paid by
 * link, or has ended without an active agreement.
 */
export async function automaticCard(ctx: Context, words: Words, scope: Scope, plan: PlanRow): Promise<Html | null> {
  if (plan.collect === 'link') return null;
  const mandate = await ctx.db.scoped(scope, (tx) => readLatestMandate(tx, scope, plan.id));
  const isActive = mandate?.state === 'active';
  if (plan.state === 'ended' && !isActive) return null;
  const { merchant: t, form } = mandateTexts(words);
  const url = planPageUrl(ctx.config, plan.id);
  return card(
    html`<h2>${t.title}</h2>`,
    agreementLine(words, mandate),
    !isActive && html`<p class="quiet">${t.show}</p>${qr(url, t.qr, t.qr)}`,
    descriptionList([
      ...(isActive ? mandateFacts(ctx, words, mandate) : []),
      [t.max, isActive ? agreedCap(words, mandate) : offeredCap(words, plan)],
      [t.pastDue, plan.after_past_due === 'end' ? form.pastDueEnd : form.pastDueLink],
    ]),
    html`<p><a href="${url}" rel="noreferrer">${t.open}</a></p>`,
    isActive &&
      confirmButton(
        {
          label: t.stop.label,
          title: fill(t.stop.title, { name: planName(words, plan) }),
          consequence: t.stop.follows,
          action: `/dashboard/plans/${plan.id}/stop-automatic`,
          danger: true,
        },
        null,
      ),
  );
}

function agreementLine(words: Words, mandate: MandateRow | null): Html {
  const { merchant: t, ended } = mandateTexts(words);
  if (mandate?.state === 'active') return stateLine('paid', t.active, t.activeRest);
  const reason = mandate?.end_reason ? ended[mandate.end_reason] : null;
  if (reason === null) return stateLine('waiting', t.waiting, t.waitingRest);
  return stateLine('waiting', t.waitingAgain, `${reason} ${t.waitingRest}`);
}

function mandateFacts({ chains }: Context, words: Words, mandate: MandateRow): [name: string, value: Html | string][] {
  const { merchant: t } = mandateTexts(words);
  return [
    [t.wallet, shortAddress(mandate.payer)],
    [t.network, nameOfChain(chains[modeOf(mandate.test_mode)], mandate.chain_id)],
    [t.agreed, instant(words, mandate.agreed_at)],
    [t.until, instant(words, mandate.ends_at)],
  ];
}

/**
 * The most that one charge may take: in USDC, which is binding, and below it in the plan's currency, from which it was
 * converted.
 */
function agreedCap(words: Words, mandate: MandateRow): Html {
  const collection = { capFiatInt: Number(mandate.cap_fiat_int), reservePercent: mandate.reserve_percent };
  return html`
    <bdi dir="ltr">${groupMicro(words, BigInt(mandate.cap_micro))} USDC</bdi><br>
    <span class="quiet">${capText(words, collection, mandate.fiat_code)}</span>
  `;
}

/** The most that one charge may take, as the merchant set it in the plan. */
const offeredCap = (words: Words, plan: PlanRow): string =>
  capText(words, { capFiatInt: Number(plan.cap_fiat_int), reservePercent: plan.reserve_percent }, plan.fiat_code);
