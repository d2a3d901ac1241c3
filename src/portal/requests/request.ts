import { may } from '../../auth/roles.ts';
import { explorerLink } from '../../checkout/transactions.ts';
import { allChains, type ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { modeOf } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import { type MerchantView, readMerchant } from '../../merchants/read.ts';
import { queryFindings } from '../../payments/findings.ts';
import { readRefunds } from '../../refunds/read.ts';
import { cancelRequest } from '../../requests/cancel.ts';
import { type PortalStatus, readPortalStatus } from '../../requests/lists/browse.ts';
import { readRequest } from '../../requests/read.ts';
import { payPageUrl } from '../../requests/render.ts';
import { type DifferingReplays, readDifferingReplays } from '../../requests/replay.ts';
import { isWaiting, madeAt } from '../../requests/rules.ts';
import { portalTexts } from '../../texts/portal.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, qr } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { confirmButton } from '../../ui/form.ts';
import { groupMicro, instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { type Flashes, flashOf } from '../../web/flash.ts';
import { rateWithSource } from '../../web/rate.ts';
import { expiryFact, requestStatusBadge } from '../../web/request-status.ts';
import { lookUpForm } from '../../web/transaction-report.ts';
import { listDeliveries } from '../../webhooks/delivery-log.ts';
import { readDeliveryHealth } from '../../webhooks/health.ts';
import { portalEventsPath } from '../live.ts';
import { nullIfNotFound, sendOtherMode } from '../other-mode.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { hindranceOf, shownDelivery } from '../webhooks/url.ts';
import { requestConcerns } from './concerns.ts';
import { lookUpPath } from './look-up.ts';
import { resendButton } from './resend.ts';
import { type History, timeline } from './timeline.ts';

const listPath = '/portal/requests';

/** `GET /portal/requests/<request_id>`: everything about one request, and the form that cancels it. */
export function requestDetail(pages: PortalPages, ctx: Context): void {
  pages.page({ url: `${listPath}/:request_id`, permission: 'read' }, async (call) => {
    const { words, mode, reply } = call;
    const id = call.param('request_id').toLowerCase();
    const known = await readAll(ctx, call, id).catch(nullIfNotFound);
    if (!known) return sendOtherMode(ctx, call, `${listPath}/${id}`, (other) => readRequest(ctx.db, other, id));
    const { row } = known.history;
    return sendPortal(ctx, reply, call, {
      path: `${listPath}/${row.id}`,
      otherModePath: listPath,
      title: fill(portalTexts(words).request.title, { amount: amountOf(words, row) }),
      body: html`
        <p><a href="${listPath}">${portalTexts(words).request.back}</a></p>
        ${flashOf(call, flashes(words))}
        <div class="list" data-live="${portalEventsPath(mode, row.id)}" data-region="request">
          ${detail(ctx, call, known)}
        </div>
      `,
    });
  });

  pages.form({ url: `${listPath}/:request_id/cancel`, permission: 'requests.cancel', fresh: 'never' }, async (call) => {
    const { scope } = call;
    const id = call.param('request_id').toLowerCase();
    const path = `${listPath}/${id}`;
    try {
      await cancelRequest(ctx, call.actor, scope, id);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'cannot_cancel') throw error;
      return call.done(path, 'cannot_cancel');
    }
    return call.done(path, 'cancelled');
  });
}

/** Everything that the page shows. */
type RequestDetails = {
  history: History;
  status: PortalStatus;
  merchant: MerchantView | null;
  replays: DifferingReplays | null;
};

async function readAll(ctx: Context, call: PortalCall, requestId: string): Promise<RequestDetails> {
  const { words, scope } = call;
  const row = await readRequest(ctx.db, scope, requestId);
  const { id } = row;
  const [status, findings, { deliveries }, merchant, replays] = await Promise.all([
    readPortalStatus(ctx, scope, id),
    queryFindings(ctx, scope, row),
    listDeliveries(ctx, scope, { requestId: id, limit: 1, offset: 0 }),
    readMerchant(ctx, scope, row.account_id),
    readDifferingReplays(ctx, scope, id),
  ]);
  const { progress } = findings;
  const [delivery = null] = deliveries;
  const [refunds, health] = await Promise.all([
    readRefunds(ctx.db, scope, [...progress.transfers, ...progress.unmatched]),
    delivery?.state === 'waiting' ? readDeliveryHealth(ctx, scope) : null,
  ]);
  const chains = ctx.chains[modeOf(scope.testMode)];
  const history = {
    ...{ row, progress, findings, refunds, chains, allChains: allChains(ctx.chains) },
    delivery: delivery && shownDelivery(call, delivery),
    hindrance: health && hindranceOf(words, health),
    now: ctx.clock.now(),
  };
  return { history, status, merchant, replays };
}

const amountOf = ({ language }: Words, row: History['row']) =>
  formatFiat(BigInt(row.fiat_int), row.fiat_code, language);

function flashes(words: Words): Flashes {
  const { request, webhooks } = portalTexts(words);
  return {
    done: { resent: webhooks.replayedOne, cancelled: request.cancelled },
    refused: { cannot_cancel: request.cannotCancel },
  };
}

function detail(ctx: Context, call: PortalCall, known: RequestDetails): Html {
  const { words, user, mode } = call;
  const { history, replays } = known;
  const { row } = history;
  const { request } = portalTexts(words);
  const cancellable = row.status === 'requested' && row.proof_status === 'none' && may(user, 'requests.cancel', mode);
  const cancel = confirmButton(
    {
      label: request.cancel,
      title: fill(request.cancelTitle, { amount: amountOf(words, row) }),
      consequence: request.cancelRest,
      action: actionIn(call, `${listPath}/${row.id}/cancel`),
      danger: true,
    },
    null,
  );
  return html`
    <div class="row">${requestStatusBadge(words, known.status)}</div>
    ${requestConcerns(words, history, replays)}
    <div class="two">
      <div class="section">
        ${requestFacts(words, known)}
        ${payCard(ctx, words, row)}
        ${metadataCard(words, row)}
        ${row.proof_status !== 'verified' && lookUpForm(words, lookUpPath)}
        ${cancellable && cancel}
      </div>
      ${timeline(words, history, history.delivery && resendButton(call, row.id))}
    </div>
  `;
}

function requestFacts(words: Words, { history, merchant }: RequestDetails): Html {
  const { row, progress, chains } = history;
  const { request, requests } = portalTexts(words);
  const name = firstVisible(merchant?.business_name, merchant?.display_name) ?? requests.unnamed;
  const customer = [row.customer_name, row.customer_email, row.customer_phone].filter(
    (part) => firstVisible(part) !== null,
  );
  const [assetChain] = chains.filter((chain) => paidOn(row, chain));
  return card(
    html`<h2>${request.facts}</h2>`,
    descriptionList([
      copyableFact(words, request.number, row.id),
      [request.amount, amountOf(words, row)],
      [request.usdc, groupMicro(words, BigInt(row.usdc_micro))],
      progress.receivedMicro > 0n ? [request.received, groupMicro(words, progress.receivedMicro)] : null,
      [request.rate, rateWithSource(words, row, madeAt(row))],
      [request.merchant, html`<a href="/portal/merchants/${row.account_id}">${name}</a>`],
      firstVisible(row.memo) !== null ? [request.memo, html`<span class="memo" dir="auto">${row.memo}</span>`] : null,
      [request.mode, html`${request.modes[row.payment_mode]} (<code>${row.payment_mode}</code>)`],
      customer.length > 0 ? [request.customer, html`${customer.map((part) => html`<p dir="auto">${part}</p>`)}`] : null,
      row.payer_address !== null ? copyableFact(words, request.payer, checksummed(row.payer_address)) : null,
      row.proof_status === 'verified' && row.tx_hash !== null
        ? copyableFact(words, request.transaction, row.tx_hash, explorerLink(assetChain, row.tx_hash))
        : null,
      copyableFact(words, request.wallet, checksummed(row.wallet_address)),
      row.idempotency_key !== null ? copyableFact(words, request.key, row.idempotency_key) : null,
      [request.created, instant(words, madeAt(row))],
      expiryFact(words, { expires: request.expires, expired: request.events.expired }, row),
    ]),
  );
}

/** An asset's id is `eip155:<chain id>/erc20:<token>`. */
function paidOn(row: History['row'], { chainId }: ChainConfig): boolean {
  return row.asset_id?.startsWith(`eip155:${chainId}/`) ?? false;
}

function payCard(ctx: Context, words: Words, row: History['row']): Html {
  const { request } = portalTexts(words);
  const url = payPageUrl(ctx.config, row.id);
  return card(
    html`<h2>${request.payPage}</h2>`,
    copyableFact(words, request.payPage, url, html`<a class="mono" href="${url}" rel="noreferrer">${url}</a>`)[1],
    isWaiting(row) && qr(url, request.payPage, request.payPageRest),
    row.proof_status === 'verified' && html`<p><a href="${url}/receipt" rel="noreferrer">${request.receipt}</a></p>`,
  );
}

function metadataCard(words: Words, row: History['row']): Html {
  const { request } = portalTexts(words);
  const pairs = Object.entries(JSON.parse(row.metadata) as Record<string, string>);
  const list = descriptionList(pairs.map(([key, value]) => [key, html`<span dir="auto">${value}</span>`]));
  return card(
    html`<h2>${request.metadata}</h2>`,
    pairs.length > 0 ? list : html`<p class="quiet">${request.noMetadata}</p>`,
  );
}
