import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { Outcome } from '../../payments/outcome.ts';
import { readTransferKey, type TransferKey, writeTransferKey } from '../../payments/transfers.ts';
import { attachUnmatched } from '../../payments/unmatched/attach.ts';
import { type Attachable, readOpenPayment } from '../../payments/unmatched/by-merchant.ts';
import { isRefundSent, readRefunds } from '../../refunds/read.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, descriptionList, fullAddress, hiddenField, mono, stateLine } from '../../ui/components.ts';
import { ago, groupMicro, instant } from '../../ui/formats.ts';
import { fill, type Words, wordsFor } from '../../ui/language.ts';
import { confirmButton } from '../../web/table.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { refundFacts, refundLine } from './refunded.ts';

const path = '/dashboard/unmatched';

/** `GET /dashboard/unmatched/<key>`: one payment without a request; `POST …/attach` gives it one. */
export function attachPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: `${path}/:key` }, (visit) => showPayment(ctx, visit, null));
  pages.form({ url: `${path}/:key/attach` }, (visit) => attach(ctx, visit));
}

/** The key in the address; throws Refusal not_found. */
export function keyIn({ request }: MerchantVisit): TransferKey {
  const key = readTransferKey((request.params as { key: string }).key);
  if (!key) throw refuse('not_found');
  return key;
}

async function attach(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, fields, reply } = visit;
  const { scope, accountId } = session;
  const key = keyIn(visit);
  const requestId = fields.request ?? '';
  if (!isUuid(requestId)) return showPayment(ctx, visit, { kind: 'not_found' });
  const outcome = await attachUnmatched(ctx, merchantActor(visit), scope, { ...key, accountId, requestId });
  if (outcome.kind === 'counted') return reply.redirect(`/dashboard/payments/${requestId}?done=attached`, 303);
  return showPayment(ctx, visit, outcome);
}

async function showPayment(ctx: Context, visit: MerchantVisit, outcome: Outcome | null): Promise<FastifyReply> {
  const { session, request, merchant } = visit;
  const key = keyIn(visit);
  const words = wordsFor(request);
  const { unmatched: t, reason, refund: refundTexts } = dashboardTexts(words);
  const { row, attachable } = await readOpenPayment(ctx, session.scope, session.accountId, key);
  const refund = (await readRefunds(ctx.db, session.scope, [key])).get(writeTransferKey(key)) ?? null;
  const amount = groupMicro(words, BigInt(row.value));
  const chain = ctx.chains[modeOf(session.scope.testMode)].find(({ chainId }) => chainId === key.chainId);
  const why = row.reason ?? 'no_match';
  const canRefund = why !== 'wrong_token' && why !== 'self_transfer';
  const decided = isRefundSent(refund);
  return sendDashboard(ctx, visit, {
    path: `${path}/${writeTransferKey(key)}`,
    title: fill(t.payment, { amount }),
    status: outcome === null ? 200 : 409,
    body: html`
      ${
        outcome !== null &&
        html`<div role="alert" class="card">${stateLine('attention', refusedText(words, outcome))}</div>`
      }
      ${card(
        refund && refundLine(words, refund),
        refund === null && stateLine('attention', reason[why]),
        descriptionList([
          [t.from, fullAddress(row.from_address)],
          [t.when, instant(words, row.block_time)],
          [t.network, chain?.name ?? String(key.chainId)],
          [t.transaction, mono(row.tx_hash)],
        ]),
        refund && refundFacts(words, refund),
        !decided &&
          canRefund &&
          html`
            <p>
              <a class="button second" href="/dashboard/give-back/${writeTransferKey(key)}">${refundTexts.heading}</a>
            </p>
          `,
      )}
      ${refund === null && attachSection(words, ctx, attachable, { amount, key, partner: merchant.partner_name })}
    `,
  });
}

type Wanted = { amount: string; key: TransferKey; partner: string };

function attachSection(words: Words, ctx: Context, attachable: Attachable[], wanted: Wanted): Html {
  const { unmatched: t } = dashboardTexts(words);
  const now = ctx.clock.now();
  return html`
    <section class="list">
      <h2>${t.attachHeading}</h2>
      <p class="quiet">${t.attachRest}</p>
      ${
        attachable.length === 0
          ? html`<p>${t.nothing}</p>`
          : html`<ul class="options">${attachable.map((one) => html`<li>${option(words, one, wanted, now)}</li>`)}</ul>`
      }
    </section>
  `;
}

function option(words: Words, one: Attachable, { amount, key, partner }: Wanted, now: Date): Html {
  const { unmatched: t } = dashboardTexts(words);
  const requested = formatFiat(one.fiatInt, one.fiatCode, words.language);
  const what = one.customerName ?? one.memo;
  return html`
    <p>
      <strong>${requested}</strong> <bdi class="quiet">${groupMicro(words, one.dueMicro)} USDC</bdi>
    </p>
    <p class="quiet">
      ${what !== null && html`<span dir="auto">${what}</span>, `}
      ${ago(words, one.createdAt, now)}
      ${one.paidMicro > 0n && html`, ${fill(t.partly, { amount: groupMicro(words, one.paidMicro) })}`}
    </p>
    ${confirmButton(
      {
        label: t.attach,
        title: fill(t.attachTitle, { amount, asked: requested }),
        consequence: fill(t.attachFollows, { partner }),
        action: `${path}/${writeTransferKey(key)}/attach`,
      },
      hiddenField('request', one.requestId),
    )}
  `;
}

function refusedText(words: Words, outcome: Outcome): string {
  const { refused } = dashboardTexts(words).unmatched;
  if (outcome.kind === 'underpaid') return fill(refused.underpaid, { amount: groupMicro(words, outcome.missingMicro) });
  return outcome.kind === 'not_found' || outcome.kind === 'already_used' ? refused[outcome.kind] : refused.other;
}
