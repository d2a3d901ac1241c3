import { scopeOfRequest } from '../../auth/scope.ts';
import { explorerLink } from '../../checkout/transactions.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type MerchantView, readMerchant } from '../../merchants/read.ts';
import { type PaymentProgress, readProgress, type TransferProgress } from '../../payments/proof/progress.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import { type ExportedRow, readExported } from '../../requests/lists/browse.ts';
import { payPageUrl } from '../../requests/render.ts';
import { madeAt } from '../../requests/rules.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, shortAddress } from '../../ui/components.ts';
import { copyableFact, copyableText } from '../../ui/copyable.ts';
import { groupMicro, instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { recordView } from '../../users/record-view.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { rateWithSource } from '../../web/rate.ts';
import { expiryFact, requestStatusBadge } from '../../web/request-status.ts';
import { table } from '../../web/table.ts';
import { type LoggedDelivery, listDeliveries } from '../../webhooks/delivery-log.ts';
import type { AdminCall, AdminPages } from '../route.ts';

/** `GET /admin/requests/:id`: any partner's request, read only. The view is recorded in the partner's audit log. */
export function adminRequest(pages: AdminPages, ctx: Context): void {
  pages.page({ url: '/admin/requests/:id' }, async (call) => {
    const id = call.param('id').toLowerCase();
    const scope = isUuid(id) ? await scopeOfRequest(ctx.db, id) : null;
    return scope ? show(ctx, call, scope, id) : sendNotFound(call.reply);
  });
}

async function show(ctx: Context, call: AdminCall, scope: Scope, id: string) {
  const { words } = call;
  await recordView(ctx, call.actor, scope, { kind: 'request', id });
  const [row, progress, { deliveries }] = await Promise.all([
    readExported(ctx, scope, id),
    readProgress(ctx, scope, id),
    listDeliveries(ctx, scope, { requestId: id, limit: 1, offset: 0 }),
  ]);
  const merchant = row && (await readMerchant(ctx, scope, row.account_id));
  if (!row || !merchant) return sendNotFound(call.reply);
  const amount = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  return call.show({
    path: '/admin/search',
    title: fill(portalTexts(words).request.title, { amount }),
    body: html`
      <div class="row">${requestStatusBadge(words, row.display_status)}</div>
      ${factsCard(ctx, words, { row, merchant, receivedMicro: progress.receivedMicro, delivery: deliveries[0] })}
      ${paymentTable(words, progress, ctx.chains[modeOf(scope.testMode)])}
      ${metadataCard(words, row)}
    `,
  });
}

type RequestDetails = {
  row: ExportedRow;
  merchant: MerchantView;
  receivedMicro: bigint;
  /** The request's event; undefined if there is none yet. */
  delivery: LoggedDelivery | undefined;
};

function factsCard(ctx: Context, words: Words, { row, merchant, receivedMicro, delivery }: RequestDetails): Html {
  const admin = adminTexts(words);
  const { request, requests, webhooks } = portalTexts(words);
  const url = payPageUrl(ctx.config, row.id);
  const customer = [row.customer_name, row.customer_email, row.customer_phone].filter((part) => part !== null);
  return card(
    html`<h2>${request.facts}</h2>`,
    descriptionList([
      copyableFact(words, request.number, row.id),
      [admin.partner, html`<a href="/admin/partners/${merchant.home_portal}">${merchant.partner_name}</a>`],
      [
        request.merchant,
        html`<a href="/admin/merchants/${row.account_id}">${row.merchant_name ?? requests.unnamed}</a>`,
      ],
      [admin.mode, admin[modeOf(merchant.test_mode)]],
      [request.amount, formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language)],
      [request.usdc, groupMicro(words, BigInt(row.usdc_micro))],
      [request.received, groupMicro(words, receivedMicro)],
      [request.rate, rateWithSource(words, row, madeAt(row))],
      row.memo === null ? null : [request.memo, html`<span class="memo" dir="auto">${row.memo}</span>`],
      customer.length === 0
        ? null
        : [request.customer, html`${customer.map((part) => html`<p dir="auto">${part}</p>`)}`],
      copyableFact(words, request.wallet, checksummed(row.wallet_address)),
      row.idempotency_key === null ? null : copyableFact(words, request.key, row.idempotency_key),
      [request.created, instant(words, madeAt(row))],
      expiryFact(words, { expires: request.expires, expired: request.events.expired }, row),
      copyableFact(words, request.payPage, url, html`<a class="mono" href="${url}">${url}</a>`),
      delivery ? [webhooks.event, webhooks.states[delivery.state]] : null,
    ]),
  );
}

/** The payments that count, and those that do not with the reason; null if there are none. */
function paymentTable(words: Words, progress: PaymentProgress, chains: ChainConfig[]): Html | null {
  const { request, unmatched, reasons } = portalTexts(words);
  const payments = [
    ...progress.transfers.map((transfer) => ({ transfer, why: '' })),
    ...progress.unmatched.map((transfer) => ({ transfer, why: reasons[transfer.reason] })),
  ];
  if (payments.length === 0) return null;
  const transaction = ({ chainId, txHash }: TransferProgress) => {
    const chain = findChain(chains, chainId);
    return copyableText(words, unmatched.transaction, txHash, explorerLink(chain, txHash, `${txHash.slice(0, 10)}…`));
  };
  return table<(typeof payments)[number]>(
    request.transaction,
    [
      {
        name: unmatched.amount,
        cell: ({ transfer }) => html`
          <a href="/admin/payments/${writeTransferKey(transfer)}">${groupMicro(words, transfer.usdcMicro)}</a>
        `,
      },
      { name: unmatched.payer, cell: ({ transfer }) => shortAddress(transfer.fromAddress) },
      { name: unmatched.transaction, cell: ({ transfer }) => transaction(transfer) },
      { name: unmatched.why, cell: ({ why }) => why },
      { name: unmatched.when, cell: ({ transfer }) => instant(words, transfer.blockTime) },
    ],
    payments,
  );
}

function metadataCard(words: Words, row: ExportedRow): Html | null {
  const metadata = Object.entries(JSON.parse(row.metadata) as Record<string, string>);
  if (metadata.length === 0) return null;
  return card(
    html`<h2>${portalTexts(words).request.metadata}</h2>`,
    descriptionList(metadata.map(([key, value]) => [key, html`<span dir="auto">${value}</span>`])),
  );
}
