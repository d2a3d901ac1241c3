import type { FastifyReply } from 'fastify';
import { type ChainConfig, nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import type { Outcome } from '../../payments/outcome.ts';
import { isRejected } from '../../payments/rules.ts';
import { readTransferKey, type TransferKey, type TransferRow, writeTransferKey } from '../../payments/transfers.ts';
import { attachUnmatched, requestRest } from '../../payments/unmatched/attach.ts';
import { type Attachable, readOpenPayment } from '../../payments/unmatched/by-merchant.ts';
import { refundObstacle } from '../../refunds/obstacle.ts';
import { isRefundSent, readRefunds } from '../../refunds/read.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { portalTexts } from '../../texts/portal.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, hiddenField, stateLine } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { confirmButton } from '../../ui/form.ts';
import { ago, groupMicro, instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { symbolOf } from '../../web/payment-amount.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { anotherLink, refundFacts, refundHindrance, refundLine } from './refunded.ts';

const path = '/dashboard/unmatched';

/**
 * `GET /dashboard/unmatched/<key>`: an unmatched payment. `POST …/attach` attaches it to a request as its payment,
 * `…/rest` as a partial payment.
 */
export function attachPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: `${path}/:key` }, (visit) => showPayment(ctx, visit, null));
  pages.form({ url: `${path}/:key/attach` }, (visit) => attach(ctx, visit, attachUnmatched));
  pages.form({ url: `${path}/:key/rest` }, (visit) => attach(ctx, visit, requestRest));
}

/** The transfer key in the address; throws Refusal not_found. */
export function keyIn({ request }: MerchantVisit): TransferKey {
  const key = readTransferKey((request.params as { key: string }).key);
  if (!key) throw refuse('not_found');
  return key;
}

async function attach(ctx: Context, visit: MerchantVisit, act: typeof attachUnmatched): Promise<FastifyReply> {
  const { session, fields, reply } = visit;
  const { scope, accountId } = session;
  const key = keyIn(visit);
  const requestId = fields.request ?? '';
  if (!isUuid(requestId)) return showPayment(ctx, visit, { kind: 'not_found' });
  const outcome = await act(ctx, merchantActor(visit), scope, { ...key, accountId, requestId });
  const asked = act === requestRest && outcome.kind === 'underpaid';
  if (asked || outcome.kind === 'counted') {
    return reply.redirect(`/dashboard/payments/${requestId}?done=${asked ? 'restAsked' : 'attached'}`, 303);
  }
  return showPayment(ctx, visit, outcome);
}

async function showPayment(ctx: Context, visit: MerchantVisit, outcome: Outcome | null): Promise<FastifyReply> {
  const { session, words, merchant } = visit;
  const key = keyIn(visit);
  const { unmatched: t, reason } = dashboardTexts(words);
  const { toCandidate } = commonTexts(words).lookUp;
  const payment = await readOpenPayment(ctx, session.scope, session.accountId, key);
  if ('attachedTo' in payment) return showAttached(visit, payment.attachedTo);
  const { row, meantFor, attachable, askable } = payment;
  const refund = (await readRefunds(ctx.db, session.scope, [key])).get(writeTransferKey(key)) ?? null;
  const chains = ctx.chains[modeOf(session.scope.testMode)];
  const title =
    symbolOf(chains, row) === null
      ? portalTexts(words).reasons.wrong_token
      : fill(t.heading, { amount: groupMicro(words, BigInt(row.value)) });
  const wanted = { row, key, partner: merchant.partner_name };
  return sendDashboard(ctx, visit, {
    path: `${path}/${writeTransferKey(key)}`,
    title,
    status: outcome === null ? 200 : 409,
    body: html`
      ${
        outcome !== null &&
        html`<div role="alert" class="card">${stateLine('attention', refusedText(words, outcome))}</div>`
      }
      ${card(
        refund && refundLine(words, refund),
        refund === null && stateLine('attention', reason[row.reason ?? 'no_match']),
        meantFor !== null && html`<p><a href="/dashboard/payments/${meantFor}">${toCandidate}</a></p>`,
        descriptionList([
          copyableFact(words, t.from, checksummed(row.from_address)),
          [t.when, instant(words, row.block_time)],
          [t.network, nameOfChain(chains, key.chainId)],
          copyableFact(words, t.transaction, row.tx_hash),
        ]),
        refund && html`${refundFacts(words, refund)}${anotherLink(words, refund)}`,
        !isRefundSent(refund) && refundLink(words, chains, row, key),
      )}
      ${refund === null && !isRejected(row.reason) && attachSection(words, ctx, attachable, wanted)}
      ${refund === null && askable.length > 0 && restSection(words, ctx, askable, wanted)}
    `,
  });
}

/** Back, a second press and another tab lead to the request that has the payment. */
function showAttached({ fields, reply }: MerchantVisit, requestId: string): FastifyReply {
  const isOther = fields.request !== undefined && fields.request !== requestId;
  return reply.redirect(`/dashboard/payments/${requestId}${isOther ? '?done=already_used' : ''}`, 303);
}

/** The link to the refund, or why there is none; null for what was no payment. */
function refundLink(words: Words, chains: ChainConfig[], row: TransferRow, key: TransferKey): Html | null {
  if (refundObstacle(row) === 'no_payment') return null;
  const hindrance = refundHindrance(words, chains, { fromAddress: row.from_address, chainId: key.chainId });
  if (hindrance !== null) return html`<p class="quiet">${hindrance}</p>`;
  const { heading } = dashboardTexts(words).refund;
  return html`<p><a class="button second" href="/dashboard/give-back/${writeTransferKey(key)}">${heading}</a></p>`;
}

type Wanted = { row: TransferRow; key: TransferKey; partner: string };

function attachSection(words: Words, ctx: Context, attachable: Attachable[], wanted: Wanted): Html {
  const { unmatched: t } = dashboardTexts(words);
  const now = ctx.clock.now();
  return html`
    <section class="list">
      <h2>${t.attachHeading}</h2>
      ${
        attachable.length === 0
          ? html`<p>${t.nothing}</p>`
          : html`
              <p class="quiet">${t.attachRest}</p>
              <ul class="options">
                ${attachable.map((one) => html`<li>${option(words, one, wanted, now)}</li>`)}
              </ul>
            `
      }
    </section>
  `;
}

/**
 * Open requests that the payment does not cover. It can become a partial payment, and their pages then ask for the
 * rest.
 */
function restSection(words: Words, ctx: Context, askable: Attachable[], wanted: Wanted): Html {
  const { unmatched: t } = dashboardTexts(words);
  const now = ctx.clock.now();
  return html`
    <section class="list">
      <h2>${t.restHeading}</h2>
      <p class="quiet">${t.restRest}</p>
      <ul class="options">
        ${askable.map((one) => html`<li>${facts(words, one, now)}${restButton(words, one, wanted)}</li>`)}
      </ul>
    </section>
  `;
}

function restButton(words: Words, one: Attachable, { row, key, partner }: Wanted): Html {
  const { unmatched: t } = dashboardTexts(words);
  const valueMicro = BigInt(row.value);
  const rest = groupMicro(words, one.dueMicro - one.paidMicro - valueMicro);
  return confirmButton(
    {
      label: fill(t.askRest, { rest }),
      title: fill(t.askRestTitle, { amount: groupMicro(words, valueMicro), rest }),
      consequence: fill(t.askRestFollows, { partner }),
      action: `${path}/${writeTransferKey(key)}/rest`,
    },
    hiddenField('request', one.requestId),
  );
}

function option(words: Words, one: Attachable, { row, key, partner }: Wanted, now: Date): Html {
  const { unmatched: t } = dashboardTexts(words);
  const amount = groupMicro(words, BigInt(row.value));
  const asked = formatFiat(one.fiatInt, one.fiatCode, words.language);
  const overMicro = BigInt(row.value) - (one.dueMicro - one.paidMicro);
  const { over } = dashboardTexts(words).payment;
  return html`
    ${facts(words, one, now)}
    ${overMicro > 0n && html`<p class="quiet">${fill(over, { amount: groupMicro(words, overMicro) })}</p>`}
    ${confirmButton(
      {
        label: t.attach,
        title: fill(t.attachTitle, { amount, asked }),
        consequence: fill(t.attachFollows, { partner }),
        action: `${path}/${writeTransferKey(key)}/attach`,
      },
      hiddenField('request', one.requestId),
    )}
  `;
}

/** The facts that distinguish a request from others in the choice. */
function facts(words: Words, one: Attachable, now: Date): Html {
  const { unmatched: t } = dashboardTexts(words);
  const requested = formatFiat(one.fiatInt, one.fiatCode, words.language);
  const what = firstVisible(one.customerName, one.memo);
  return html`
    <p>
      <strong>${requested}</strong> <bdi class="quiet">${groupMicro(words, one.dueMicro)} USDC</bdi>
    </p>
    <p class="quiet">
      ${what !== null && html`<span dir="auto">${what}</span>, `}
      ${ago(words, one.createdAt, now)}
      ${one.paidMicro > 0n && html`, ${fill(t.partly, { amount: groupMicro(words, one.paidMicro) })}`}
    </p>
  `;
}

function refusedText(words: Words, outcome: Outcome): string {
  const { refused } = dashboardTexts(words).unmatched;
  if (outcome.kind === 'underpaid') return fill(refused.underpaid, { amount: groupMicro(words, outcome.missingMicro) });
  return outcome.kind === 'not_found' || outcome.kind === 'already_used' ? refused[outcome.kind] : refused.other;
}
