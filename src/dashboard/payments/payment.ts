import { allChains, type ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { receiptNumber } from '../../lib/text/receipt-number.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import { queryFindings } from '../../payments/findings.ts';
import { type PaymentProgress, readProgress, type TransferProgress } from '../../payments/proof/progress.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import { type PlanRow, readPlanOfRequest } from '../../plans/read.ts';
import { isRefundSent, type RefundRow, readRefunds } from '../../refunds/read.ts';
import { readByMerchant } from '../../requests/lists/by-merchant.ts';
import { payPageUrl } from '../../requests/render.ts';
import { madeAt } from '../../requests/rules.ts';
import type { RequestRow } from '../../requests/store.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { receiptTexts } from '../../texts/receipts.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, largeAmount, qr, stateLine } from '../../ui/components.ts';
import { copyable, copyableFact } from '../../ui/copyable.ts';
import { confirmButton } from '../../ui/form.ts';
import { groupMicro, instant } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { planName } from '../../web/plan-words.ts';
import { rateWithSource } from '../../web/rate.ts';
import { expiryFact } from '../../web/request-status.ts';
import { dotAtEnd, notice } from '../../web/shell.ts';
import { lookUpForm } from '../../web/transaction-report.ts';
import { callName, dashboardStatusBadge, dashboardStatusOf } from '../home/display-status.ts';
import { dashboardEventsPath } from '../live.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { sendDashboard } from '../shell.ts';
import { cancelCard, refusedNotice } from './cancel.ts';
import { lookUpPath } from './look-up.ts';
import { anotherLink, refundHindrance, refundLine } from './refunded.ts';
import { timelineOf } from './timeline.ts';

/** Everything that is known about one request of the merchant. */
export type Payment = {
  row: RequestRow;
  progress: PaymentProgress;
  chains: ChainConfig[];
  /** Refunds by `writeTransferKey`, with what the network reports about each. */
  refunds: Map<string, RefundRow>;
  url: string;
};

/** Reads one request of a merchant; throws Refusal not_found. */
export async function readPayment(ctx: Context, scope: Scope, accountId: string, id: string): Promise<Payment> {
  const row = await readByMerchant(ctx.db, scope, accountId, id);
  return paymentOf(ctx, scope, row, await readProgress(ctx, scope, row.id));
}

async function paymentOf(ctx: Context, scope: Scope, row: RequestRow, progress: PaymentProgress): Promise<Payment> {
  const refunds = await readRefunds(ctx.db, scope, [...progress.transfers, ...progress.unmatched]);
  const chains = ctx.chains[modeOf(scope.testMode)];
  return { row, progress, chains, refunds, url: payPageUrl(ctx.config, row.id) };
}

/** `GET /dashboard/payments/<id>`: one request, its history, and the actions for it. */
export function paymentPage(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: '/dashboard/payments/:id' }, (visit) => showPayment(ctx, visit));
}

async function showPayment(ctx: Context, visit: MerchantVisit) {
  const { session, words, request } = visit;
  const { id } = request.params as { id: string };
  const row = await readByMerchant(ctx.db, session.scope, session.accountId, id);
  const findings = await queryFindings(ctx, session.scope, row);
  const payment = await paymentOf(ctx, session.scope, row, findings.progress);
  const plan = await readPlanOfRequest(ctx, session.scope, row.id);
  const timeline = timelineOf(words, payment, findings, allChains(ctx.chains));
  const amount = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  const { done } = request.query as { done?: unknown };
  return sendDashboard(ctx, visit, {
    path: `/dashboard/payments/${row.id}`,
    title: fill(dashboardTexts(words).payment.title, { amount }),
    heading: fillHtml(dotAtEnd(dashboardTexts(words).payment.title), {
      amount: html`<bdi class="short">${amount}</bdi>`,
    }),
    body: html`
      <div data-region="notice">${noticeOf(words, row, done)}</div>
      <div class="list" data-live="${dashboardEventsPath(row.id)}" data-region="payment">
        ${concerns(words, payment)}
        <div class="two">
          ${factsCard(words, payment, plan)}
          <div class="list">
            ${shareCard(words, payment)}
            ${card(html`<h2>${dashboardTexts(words).payment.timeline}</h2>`, timeline)}
            ${row.proof_status !== 'verified' && lookUpForm(words, lookUpPath)}
            ${cancelCard(words, payment)}
          </div>
        </div>
      </div>
    `,
  });
}

/** What the form led to. That a request can be shared, or asks for the rest, is said only while it is open. */
function noticeOf(words: Words, row: RequestRow, done: unknown): Html | null {
  const { payment: t, unmatched } = dashboardTexts(words);
  const isOpen = dashboardStatusOf(row) === 'open';
  switch (done) {
    case 'asked':
      return isOpen ? notice('paid', t.ready) : null;
    case 'restAsked':
      return isOpen ? notice('paid', t.restAsked) : null;
    case 'part_refused':
      return notice('attention', t.partialRefused);
    case 'already_used':
      return notice('attention', unmatched.refused.already_used);
    default:
      return refusedNotice(words, row, done);
  }
}

/** What needs a decision: a partial payment, an overpayment, or money that does not count. */
function concerns(words: Words, { row, progress, chains, refunds }: Payment): Html | null {
  const { payment: t, reason } = dashboardTexts(words);
  const usdc = (micro: bigint) => groupMicro(words, micro);
  const lines: Html[] = [];
  if (progress.receivedMicro > 0n && progress.missingMicro > 0n) {
    const rest = fill(dashboardStatusOf(row) === 'open' ? t.shortRest : t.shortEnded, {
      paid: usdc(progress.receivedMicro),
      due: usdc(progress.dueMicro),
    });
    const title = fill(t.short, { amount: usdc(progress.missingMicro) });
    const refundable =
      dashboardStatusOf(row) === 'open'
        ? []
        : progress.transfers.map((transfer) => refundPartialForm(words, chains, transfer));
    lines.push(html`<div>${stateLine('attention', title, rest)}${refundable}</div>`);
  }
  for (const surplus of row.proof_status === 'verified' ? progress.surpluses : []) {
    const title = fill(t.over, { amount: usdc(surplus.micro) });
    const key = writeTransferKey(surplus);
    const hindrance = refundHindrance(words, chains, surplus);
    const act =
      hindrance === null
        ? { rest: t.overRest, href: `/dashboard/give-back/${key}`, label: t.refund }
        : { rest: hindrance };
    lines.push(afterwards(words, { title, ...act }, refunds.get(key)));
  }
  for (const transfer of progress.unmatched) {
    const key = writeTransferKey(transfer);
    const title = fill(t.stray, { amount: usdc(transfer.usdcMicro) });
    const href = `/dashboard/unmatched/${key}`;
    lines.push(afterwards(words, { title, rest: reason[transfer.reason], href, label: t.decide }, refunds.get(key)));
  }
  for (const near of progress.near) {
    const values = { amount: usdc(near.usdcMicro), asked: usdc(near.askedMicro) };
    const rest = near.others === 0 ? t.nearRest : t.nearOthers;
    const href = `/dashboard/unmatched/${writeTransferKey(near)}`;
    lines.push(afterwards(words, { title: fill(t.near, values), rest, href, label: t.decide }, undefined));
  }
  return lines.length === 0 ? null : card(html`${lines}`);
}

/** The button that refunds a partial payment of a request that has ended. It needs a final payment. */
function refundPartialForm(words: Words, chains: ChainConfig[], transfer: TransferProgress): Html {
  const { payment: t } = dashboardTexts(words);
  const amount = groupMicro(words, transfer.usdcMicro);
  const hindrance = refundHindrance(words, chains, transfer);
  if (hindrance !== null) return html`<p class="after-state quiet">${hindrance}</p>`;
  if (!transfer.final) return html`<p class="after-state quiet">${fill(t.refundPartialSoon, { amount })}</p>`;
  const act = {
    label: fill(t.refundPartial, { amount }),
    title: fill(t.refundPartialTitle, { amount }),
    consequence: t.refundPartialRest,
    action: `/dashboard/give-back/${writeTransferKey(transfer)}/part`,
  };
  return html`<div class="after-state">${confirmButton(act, null)}</div>`;
}

/** One matter to decide, with its refund if there is one. Once a refund was sent, there is nothing left to decide. */
function afterwards(
  words: Words,
  { title, rest, href, label }: { title: string; rest: string; href?: string; label?: string },
  refund: RefundRow | undefined,
): Html {
  const isDone = refund !== undefined && isRefundSent(refund);
  return html`
    <div>
      ${stateLine(isDone ? 'ended' : 'attention', title, isDone ? null : rest)}
      ${refund && html`<div class="after-state">${refundLine(words, refund)}${anotherLink(words, refund)}</div>`}
      ${!isDone && href !== undefined && html`<p class="after-state"><a href="${href}">${label}</a></p>`}
    </div>
  `;
}

function factsCard(words: Words, { row, url, progress }: Payment, plan: PlanRow | null): Html {
  const { payment: t } = dashboardTexts(words);
  const isPartial = row.proof_status === 'none' && row.status !== 'voided' && progress.receivedMicro > 0n;
  const displayStatus = isPartial ? 'part' : dashboardStatusOf(row);
  const paidAt = row.proof_verified_at;
  const unnamed = firstVisible(row.customer_name, row.memo) === null;
  const customer = [row.customer_name, row.customer_email, row.customer_phone].filter(
    (detail) => firstVisible(detail) !== null,
  );
  return card(
    html`
      <p>${dashboardStatusBadge(words, displayStatus)}</p>
      ${largeAmount(formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language))}
    `,
    descriptionList([
      [t.usdc, html`<bdi>${groupMicro(words, BigInt(row.usdc_micro))} USDC</bdi>`],
      [t.rate, rateWithSource(words, row, madeAt(row))],
      customer.length > 0 ? [t.customer, html`<span dir="auto">${customer.join(', ')}</span>`] : null,
      firstVisible(row.memo) !== null ? [t.memo, html`<span class="memo" dir="auto">${row.memo}</span>`] : null,
      // What the list calls it; once it is paid, its receipt has the number.
      unnamed && paidAt === null ? copyableFact(words, dashboardTexts(words).list.for, callName(row)) : null,
      plan && [
        dashboardTexts(words).plans.name,
        html`<a dir="auto" href="/dashboard/plans/${plan.id}">${planName(words, plan)}</a>`,
      ],
      [t.created, instant(words, madeAt(row))],
      paidAt === null ? expiryFact(words, { expires: t.expires, expired: t.expired }, row) : null,
      ...(paidAt === null ? [] : paidFacts(words, row.id, paidAt, progress)),
      copyableFact(words, t.wallet, checksummed(row.wallet_address)),
      copyableFact(words, t.id, row.id),
    ]),
    displayStatus === 'paid' && html`<p><a href="${new URL(url).pathname}/receipt">${t.receipt}</a></p>`,
  );
}

/** What a bookkeeper needs of a paid request: when it was paid, what came, and the number on the customer's receipt. */
function paidFacts(words: Words, id: string, paidAt: Date, { receivedMicro }: PaymentProgress): [string, Html][] {
  const { receipt } = receiptTexts(words);
  return [
    [receipt.confirmed, instant(words, paidAt)],
    [receipt.received, html`<bdi>${groupMicro(words, receivedMicro)} USDC</bdi>`],
    copyableFact(words, receipt.number, receiptNumber(id, paidAt)),
  ];
}

/** The link and its QR code, while the request is open. */
function shareCard(words: Words, { row, url }: Payment): Html | null {
  const { payment: t } = dashboardTexts(words);
  if (dashboardStatusOf(row) !== 'open') return null;
  return card(
    html`<h2>${t.share}</h2>`,
    copyable(words, t.link, url, t.copy),
    qr(url, t.qr, t.qrRest),
    html`<p><a href="/dashboard/cashier/${row.id}">${t.cashier}</a></p>`,
  );
}
