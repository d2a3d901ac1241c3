import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { MandateRow } from '../../plans/mandates/read.ts';
import type { ChargeRow } from '../../plans/read.ts';
import { startOf } from '../../plans/rules.ts';
import { isWaiting } from '../../requests/rules.ts';
import { commonTexts } from '../../texts/common.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { payTexts } from '../../texts/pay.ts';
import { logoOf } from '../../ui/branding.ts';
import { card, descriptionList, largeAmount, stateLine } from '../../ui/components.ts';
import { everyText, utcDayText } from '../../ui/formats.ts';
import { fill } from '../../ui/language.ts';
import { sendPage } from '../../web/layout.ts';
import { relayOrigin } from '../../web/phone-wallets.ts';
import { pager } from '../../web/table.ts';
import { failedCharge, failedLines } from './failed-charge.ts';
import { mandateCard, mandateFacts } from './mandate-card.ts';
import type { PlanView } from './read.ts';
import { agreeCard } from './terms-card.ts';

const doneNames = ['agreed', 'stopped', 'raised', 'due'] as const;

/**
 * Whether the result named in a link can be true, because anybody, including the merchant, may send a customer any
 * link.
 */
function isDone(name: (typeof doneNames)[number], { mandate, testPanel }: PlanView): boolean {
  if (name === 'stopped') return mandate?.state === 'stopped';
  return mandate?.state === 'active' && (name !== 'due' || testPanel !== null);
}

/** A plan's page for its customer: what it is, what was or can be agreed, and its charges. */
export function sendPlanPage(ctx: Context, reply: FastifyReply, view: PlanView, done: unknown): FastifyReply {
  const { words, merchant, facts, branding, path } = view;
  const { page: t } = mandateTexts(words);
  const name = doneNames.find((one) => one === done && isDone(one, view));
  return sendPage(reply, 200, {
    title: fill(t.title, { merchant }),
    whose: null,
    words,
    branding,
    testMode: facts.test_mode,
    island: 'plan',
    connectTo: relayOrigin(view.walletConnect),
    path,
    body: html`
      <div id="plan" class="fragments" data-path="${path}" data-texts="${JSON.stringify(islandTexts(view))}">
        <p class="hidden" role="status" data-say></p>
        ${name && html`<div role="status">${stateLine('paid', t.done[name])}</div>`}
        ${card(
          html`
            <div class="payee">
              ${logoOf(branding)}
              <h1 dir="auto">${merchant}</h1>
            </div>
            ${largeAmount(formatFiat(BigInt(facts.fiat_int), facts.fiat_code, words.language))}
            <p>${everyText(words, facts.every, facts.period)}</p>
            <p class="quiet"><bdi>${facts.name}</bdi></p>
          `,
        )}
        ${agreementCards(ctx, view)}
        ${chargesCard(view)}
        ${view.testPanel?.(view) ?? null}
      </div>
      ${
        facts.merchant_name !== null &&
        html`<footer class="foot"><p>${fill(payTexts(words).pay.through, { partner: branding.name })}</p></footer>`
      }
    `,
  });
}

/** How the plan is paid, and what the customer can change. */
function agreementCards(ctx: Context, view: PlanView): Html {
  const { facts, mandate, words, merchant } = view;
  const { page: t } = mandateTexts(words);
  const isActive = mandate?.state === 'active';
  if (isActive) return mandateCard(ctx, view, mandate);
  if (facts.state === 'ended')
    return html`${card(stateLine('ended', t.ended, t.endedRest))}${pastAgreement(ctx, view)}`;
  const byLink = card(stateLine('ended', t.byLink, fill(t.byLinkRest, { merchant })));
  if (facts.collect === 'link') return html`${pastAgreement(ctx, view) ?? byLink}`;
  return html`${pastAgreement(ctx, view)}${agreeCard(view, mandate !== null && mandate.end_reason !== 'stopped_by_customer')}`;
}

/** An agreement that is no longer used: why, and whether it is revoked on chain. */
function pastAgreement(ctx: Context, { mandate, facts, words }: PlanView): Html | null {
  if (mandate === null) return null;
  const { page: t, ended } = mandateTexts(words);
  const reason =
    mandate.end_reason === 'stopped_by_customer' ? t.youStopped : mandate.end_reason && ended[mandate.end_reason];
  const byLink = facts.state === 'ended' ? null : t.stoppedRest;
  const why = [reason, byLink].filter((text) => text !== null).join(' ');
  const revocation = revocationText(mandate, t);
  return card(
    stateLine('ended', t.stopped, why),
    revocation !== null && html`<p class="quiet">${revocation}</p>`,
    html`<details><summary>${t.agreed}</summary>${mandateFacts(ctx, words, mandate)}</details>`,
  );
}

function revocationText(
  { revoked_at, revoke_due_at }: MandateRow,
  t: { revoked: string; revoking: string },
): string | null {
  if (revoked_at !== null) return t.revoked;
  return revoke_due_at === null ? null : t.revoking;
}

type ChargeStatus = 'open' | 'automatic' | 'confirming' | 'paid' | 'ended';

/** @param isFailed an automatic charge failed, so the customer should act */
function chargeStatusOf(row: ChargeRow, isFailed: boolean): ChargeStatus {
  const { proof_status, collection } = row;
  if (proof_status === 'verified') return 'paid';
  if (proof_status === 'attached') return 'confirming';
  if (!isWaiting(row)) return 'ended';
  return !isFailed && (collection === 'waiting' || collection === 'sent') ? 'automatic' : 'open';
}

/** The charges, each with a link to pay it or to its receipt. */
function chargesCard(view: PlanView): Html {
  const { words, charges, next, path, url } = view;
  const { page: t } = mandateTexts(words);
  if (charges.length === 0) return card(html`<h2>${t.charges}</h2>`, html`<p class="quiet">${t.noCharges}</p>`);
  // A plan's page is `<pay page>/plans/<id>/<token>`.
  const payPath = new URL(url).pathname.split('/').slice(0, -3).join('/');
  return card(
    html`<h2>${t.charges}</h2>`,
    descriptionList(
      charges.map((row) => {
        const failed = failedCharge(view, row);
        const status = chargeStatusOf(row, failed !== null);
        const link = `${payPath}/${row.request_id}`;
        return [
          utcDayText(words, startOf(row.due_on)),
          html`
            ${t.states[status]}
            ${status === 'paid' && html` · <a href="${link}/receipt">${t.receipt}</a>`}
            ${(status === 'open' || status === 'automatic') && html` · <a href="${link}">${t.pay}</a>`}
            ${failed && failedLines(view, failed)}
          `,
        ];
      }),
    ),
    pager(words, path, view.after === null ? {} : { after: view.after }, next),
  );
}

/** Texts for browser code. */
function islandTexts({ words }: PlanView): Record<string, string> {
  return {
    ...payTexts(words).wallet,
    ...mandateTexts(words).wallet,
    copied: commonTexts(words).common.copied,
  };
}
