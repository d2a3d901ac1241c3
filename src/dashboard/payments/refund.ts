import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { AttemptLimit } from '../../lib/concurrency/attempts.ts';
import { minuteMs } from '../../lib/durations.ts';
import { formatMicro } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readFinalPayment } from '../../payments/proof/final-payment.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import { cancelRefund } from '../../refunds/cancel.ts';
import { detachPartialPayment } from '../../refunds/detach-partial.ts';
import { isRefundSent, type RefundRow } from '../../refunds/read.ts';
import {
  checkRefund,
  type PreparedRefund,
  prepareRefund,
  type RefundFault,
  recordRefund,
} from '../../refunds/refund.ts';
import { startRefund } from '../../refunds/start.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { payTexts } from '../../texts/pay.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, field, fullAddress, stateLine } from '../../ui/components.ts';
import { copyable, copyableFact } from '../../ui/copyable.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { sendTooMany } from '../../web/error-page.ts';
import { dashboardEventsPath } from '../live.ts';
import type { FormFields, MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { keyIn } from './attach.ts';
import { refundFacts, refundLine } from './refunded.ts';

const path = '/dashboard/give-back';

/**
 * Each view of a refund queries every endpoint of a chain, and payments are read from the same endpoints. The limits
 * hold for a minute and a process: one for a merchant, one for all merchants of a partner.
 */
const perMerchant = new AttemptLimit(150, minuteMs);
const perPartner = new AttemptLimit(600, minuteMs);

const isAllowed = (ctx: Context, { session: { scope, accountId } }: MerchantVisit): boolean => {
  const now = ctx.clock.now();
  return perMerchant.take(accountId, now) && perPartner.take(`${scope.partnerId} ${scope.testMode}`, now);
};

/**
 * `GET /dashboard/give-back/<key>`: shows how much can be refunded to the payer and, once the refund is started (`POST
 * …/take`), a prepared transfer. `POST` records the transaction that was sent, `…/put-back` cancels the refund, and
 * `…/part` detaches a partial payment first.
 */
export function refundPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: `${path}/:key` }, async (visit) => {
    if (!isAllowed(ctx, visit)) return sendTooMany(visit.reply);
    const prepared = await prepareRefund(ctx, visit.session.scope, visit.session.accountId, keyIn(visit));
    return showRefund(ctx, visit, prepared, null);
  });
  pages.form({ url: `${path}/:key` }, (visit) => record(ctx, visit));
  pages.form({ url: `${path}/:key/part` }, (visit) => detach(ctx, visit));
  pages.form({ url: `${path}/:key/take` }, (visit) => start(ctx, visit));
  pages.form({ url: `${path}/:key/put-back` }, (visit) => cancel(ctx, visit));
}

/**
 * Starts the refund, then shows the transfer. A second start changes nothing. Neither does a start before the payment
 * is final; the page says so.
 */
async function start(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { scope, accountId } = visit.session;
  const key = keyIn(visit);
  if (!isAllowed(ctx, visit)) return sendTooMany(visit.reply);
  // Outside the transaction: the chain may be slow.
  const final = await readFinalPayment(ctx, scope, accountId, key);
  await startRefund(ctx, merchantActor(visit), scope, { accountId, key, final });
  return visit.reply.redirect(`${path}/${writeTransferKey(key)}`, 303);
}

/** Cancels the refund at the merchant's request. A refund whose transaction is under way is not cancelled. */
async function cancel(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { scope, accountId } = visit.session;
  const done = await cancelRefund(ctx, merchantActor(visit), scope, accountId, keyIn(visit));
  return visit.reply.redirect(`${path}/${writeTransferKey(keyIn(visit))}${done ? '?done=put_back' : ''}`, 303);
}

/** Detaches a partial payment from its request, then shows the transfer that refunds it. */
async function detach(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { scope, accountId } = visit.session;
  const detached = await detachPartialPayment(ctx, merchantActor(visit), scope, accountId, keyIn(visit));
  const isFree = detached.kind === 'detached' || detached.kind === 'again';
  const next = isFree
    ? `${path}/${writeTransferKey(keyIn(visit))}`
    : `/dashboard/payments/${detached.requestId}?done=part_refused`;
  return visit.reply.redirect(next, 303);
}

async function record(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, fields, reply } = visit;
  const { scope, accountId } = session;
  const key = keyIn(visit);
  if (!isAllowed(ctx, visit)) return sendTooMany(reply);
  const typedRefund = { refundTxHash: fields.return_tx_hash ?? '', elsewhere: fields.elsewhere === '1' };
  // Outside the transaction: the chain may be slow.
  const checked = await checkRefund(ctx, scope, accountId, key, typedRefund);
  if (checked.fault !== null) {
    return showRefund(ctx, visit, await prepareRefund(ctx, scope, accountId, key), checked.fault);
  }
  const { prepared } = checked;
  const fault = await recordRefund(ctx, merchantActor(visit), scope, accountId, checked);
  if (fault) return showRefund(ctx, visit, await prepareRefund(ctx, scope, accountId, key), fault);
  const requestId = prepared.requestId ?? prepared.candidateRequestId;
  const back = requestId === null ? '/dashboard/unmatched' : `/dashboard/payments/${requestId}`;
  return reply.redirect(`${back}?done=returned`, 303);
}

/** Why a transaction was not recorded, as a sentence. */
function faultText(words: Words, fault: RefundFault, { token }: PreparedRefund): string {
  const { faults } = dashboardTexts(words);
  if (fault === 'other') return fill(faults.refundOther, { token: token.symbol });
  const { hash: malformed, alreadyRefunded: already_refunded, refundTooMany: too_many, refundFailed: failed } = faults;
  return { malformed, already_refunded, too_many, failed }[fault];
}

/** The order for browser code, in `data-refund`, to send the transfer with the merchant's wallet. */
function orderOf({ chain, token, fromAddress, data }: PreparedRefund, words: Words): string {
  const { chainId, name, publicRpcUrl, coin, explorerUrl } = chain;
  const { send, waiting, sent, none, noAccount, otherAccount, declined, away, wrongNetwork, failed } =
    dashboardTexts(words).refund;
  const { browserWallet, switching, pending, fee, notReached } = payTexts(words).wallet;
  return JSON.stringify({
    chain: { chainId, name, publicRpcUrl, coin: coin ?? 'ETH', explorerUrl },
    token: token.address,
    from: checksummed(fromAddress),
    data,
    texts: {
      ...{ send, waiting, sent, none, noAccount, otherAccount, away, wrongNetwork, failed, rejected: declined },
      ...{ browserWallet, switching, pending, fee, notReached },
    },
  });
}

function showRefund(
  ctx: Context,
  visit: MerchantVisit,
  prepared: PreparedRefund,
  fault: RefundFault | null,
): Promise<FastifyReply> {
  const { words } = visit;
  const { refund: t, refunded } = dashboardTexts(words);
  const amount = groupMicro(words, prepared.usdcMicro);
  const text = fault === null ? undefined : faultText(words, fault, prepared);
  const { refund } = prepared;
  const another = canRecordAnother(prepared);
  const early = card(stateLine('attention', t.early, t.earlyRest));
  const first = prepared.data === null ? early : html`${warning(words, prepared)}${startCard(words, prepared, text)}`;
  const transfer =
    prepared.data === null
      ? html`${early}${card(recordForm(words, visit.fields, prepared, text))}${cancelForm(words, prepared)}`
      : html`
        ${warning(words, prepared)}
        <div class="two">${preparedCard(words, prepared)}${manualCard(words, visit, prepared, text)}</div>
        ${cancelForm(words, prepared)}
      `;
  return sendDashboard(ctx, visit, {
    path: `${path}/${writeTransferKey(prepared.key)}`,
    under: prepared.requestId === null ? '/dashboard/unmatched' : '/dashboard/payments',
    title: fill(t.title, { amount }),
    status: fault === null ? 200 : 409,
    island: 'refund',
    body: html`
      ${refund && refundCard(words, prepared, refund, text)}
      ${
        another
          ? html`
            <details class="card"${fault !== null && html` open`}>
              <summary>${refunded.another}</summary>
              ${recordForm(words, visit.fields, prepared, text)}
            </details>
          `
          : refund === null
            ? first
            : !isRefundSent(refund) && transfer
      }
    `,
  });
}

/** According to the network, the recorded transaction refunded nothing, or no endpoint knows it (a mistyped hash). */
const canRecordAnother = ({ refund, unknownHash }: PreparedRefund) => refund?.state === 'other' || unknownHash !== null;

/** The refund, its transaction, and what the network reports. The card updates itself. */
function refundCard(words: Words, prepared: PreparedRefund, refund: RefundRow, fault: string | undefined): Html {
  const showsFault = fault !== undefined && !canRecordAnother(prepared) && isRefundSent(refund);
  return html`
    <div data-live="${dashboardEventsPath()}" data-region="given">
      ${card(
        refundLine(words, refund),
        showsFault && html`<p class="fault" role="alert">${fault}</p>`,
        refundFacts(words, refund),
      )}
    </div>
  `;
}

/**
 * An exchange's customers have no address of their own there. The service cannot tell whether the payer is an exchange,
 * so the warning is always shown.
 */
function warning(words: Words, { manyMerchants }: PreparedRefund): Html {
  const { refund: t } = dashboardTexts(words);
  return card(
    manyMerchants ? stateLine('failed', t.many, t.manyRest) : stateLine('attention', t.careful, t.carefulRest),
  );
}

function preparedFacts(words: Words, prepared: PreparedRefund): Html {
  const { refund: t } = dashboardTexts(words);
  return descriptionList([
    [t.amount, html`<strong><bdi>${groupMicro(words, prepared.usdcMicro)} ${prepared.token.symbol}</bdi></strong>`],
    copyableFact(words, t.to, checksummed(prepared.toAddress)),
    copyableFact(words, t.from, checksummed(prepared.fromAddress)),
    [t.network, prepared.chain.name],
  ]);
}

/**
 * The transfer is offered only once the refund is started: until then the payment could still be applied to a request.
 */
function startCard(words: Words, prepared: PreparedRefund, fault: string | undefined): Html {
  const { refund: t } = dashboardTexts(words);
  return card(
    html`${fault && html`<p class="fault" role="alert">${fault}</p>`}<p class="quiet">${t.takeRest}</p>`,
    preparedFacts(words, prepared),
    form({ action: `${path}/${writeTransferKey(prepared.key)}/take`, submit: t.take }),
  );
}

function cancelForm(words: Words, { key }: PreparedRefund): Html {
  const { refund: t } = dashboardTexts(words);
  const action = `${path}/${writeTransferKey(key)}/put-back`;
  return confirmButton({ label: t.cancel, title: t.cancelTitle, consequence: t.cancelRest, action }, null);
}

function preparedCard(words: Words, prepared: PreparedRefund): Html {
  const { refund: t } = dashboardTexts(words);
  return card(
    html`<h2>${t.prepared}</h2><p class="quiet">${t.rest}</p>`,
    preparedFacts(words, prepared),
    html`
      <div class="wallets" data-refund="${orderOf(prepared, words)}" hidden></div>
      <p class="told" role="alert" hidden></p>
    `,
  );
}

function manualCard(words: Words, visit: MerchantVisit, prepared: PreparedRefund, fault: string | undefined): Html {
  const { refund: t } = dashboardTexts(words);
  return card(
    html`
      <h2>${t.manual}</h2>
      <p class="quiet">${fill(t.manualRest, { token: prepared.token.symbol, network: prepared.chain.name })}</p>
    `,
    copyable(words, t.amount, formatMicro(prepared.usdcMicro), t.copyAmount),
    copyable(words, t.to, checksummed(prepared.toAddress), t.copyAddress),
    descriptionList([[t.token, fullAddress(prepared.token.address)]]),
    recordForm(words, visit.fields, prepared, fault),
  );
}

/** The form for the hash of the transaction. After sending, browser code fills it in and submits it. */
function recordForm(words: Words, fields: FormFields, prepared: PreparedRefund, fault: string | undefined): Html {
  const { refund: t } = dashboardTexts(words);
  return html`
    <form method="post" action="${path}/${writeTransferKey(prepared.key)}" id="note" class="stack">
      ${field({
        name: 'return_tx_hash',
        label: t.hash,
        hint: t.hashHint,
        value: fields.return_tx_hash ?? '',
        fault,
        attributes:
          'required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="66" dir="ltr" placeholder="0x…"',
      })}
      <label class="check">
        <input type="checkbox" name="elsewhere" value="1"${fields.elsewhere === '1' && html` checked`}>
        <span>${t.elsewhere}</span>
      </label>
      <button class="second">${t.note}</button>
    </form>
  `;
}
