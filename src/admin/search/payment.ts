import { scopeOfTransfer } from '../../auth/scope.ts';
import { explorerLink } from '../../checkout/transactions.ts';
import { findChain, nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import { html } from '../../lib/text/html.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import { readMerchant } from '../../merchants/read.ts';
import { readTransfer, readTransferKey, type TransferKey, writeTransferKey } from '../../payments/transfers.ts';
import { readRefunds } from '../../refunds/read.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { instant } from '../../ui/formats.ts';
import { recordView } from '../../users/record-view.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { paymentAmount } from '../../web/payment-amount.ts';
import { refundBadge } from '../../web/refunded.ts';
import type { AdminCall, AdminPages } from '../route.ts';

/** `GET /admin/payments/:key`: any partner's payment, read only. The view is recorded in the partner's audit log. */
export function adminPayment(pages: AdminPages, ctx: Context): void {
  pages.page({ url: '/admin/payments/:key' }, async (call) => {
    const key = readTransferKey(call.param('key'));
    const scope = key && (await scopeOfTransfer(ctx.db, key));
    return key && scope ? show(ctx, call, scope, key) : sendNotFound(call.reply);
  });
}

async function show(ctx: Context, call: AdminCall, scope: Scope, key: TransferKey) {
  const { words } = call;
  const name = writeTransferKey(key);
  await recordView(ctx, call.actor, scope, { kind: 'payment', id: name });
  const [row, refunds] = await Promise.all([readTransfer(ctx.db, scope, key), readRefunds(ctx.db, scope, [key])]);
  const merchant = row && (await readMerchant(ctx, scope, row.account_id));
  if (!row || !merchant) return sendNotFound(call.reply);
  const admin = adminTexts(words);
  const { request, requests, unmatched, reasons } = portalTexts(words);
  const mode = modeOf(scope.testMode);
  const chain = findChain(ctx.chains[mode], key.chainId);
  const refund = refunds.get(name);
  const amount = paymentAmount(words, ctx.chains[mode], row);
  const meant = row.request_id ?? row.candidate_request_id;
  const merchantName = firstVisible(merchant.business_name, merchant.display_name) ?? requests.unnamed;
  return call.show({
    path: '/admin/search',
    title: amount,
    body: html`
      ${refund && html`<div class="row">${refundBadge(words, refund)}</div>`}
      ${card(
        descriptionList([
          [unmatched.amount, amount],
          [admin.partner, html`<a href="/admin/partners/${merchant.home_portal}">${merchant.partner_name}</a>`],
          [unmatched.merchant, html`<a href="/admin/merchants/${row.account_id}">${merchantName}</a>`],
          [admin.mode, admin[mode]],
          [admin.chains.name, nameOfChain(ctx.chains[mode], row.chain_id)],
          copyableFact(words, unmatched.transaction, row.tx_hash, explorerLink(chain, row.tx_hash)),
          copyableFact(words, unmatched.payer, checksummed(row.from_address)),
          copyableFact(words, request.wallet, checksummed(row.to_address)),
          meant === null
            ? null
            : copyableFact(
                words,
                row.request_id === null ? unmatched.seemsFor : request.number,
                meant,
                html`<a class="mono" href="/admin/requests/${meant}">${meant}</a>`,
              ),
          row.request_id === null ? [unmatched.why, reasons[row.reason ?? 'no_match']] : null,
          [unmatched.when, instant(words, row.block_time)],
        ]),
      )}
    `,
  });
}
