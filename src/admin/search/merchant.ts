import { scopeOfMerchant } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { html } from '../../lib/text/html.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import { readMerchant } from '../../merchants/read.ts';
import { browseUnmatched } from '../../payments/unmatched/browse.ts';
import { browseRequests } from '../../requests/lists/browse.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { checksummed } from '../../ui/address.ts';
import { badge, card, descriptionList } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { instant } from '../../ui/formats.ts';
import { recordView } from '../../users/record-view.ts';
import { sendNotFound } from '../../web/error-page.ts';
import type { AdminCall, AdminPages } from '../route.ts';
import { foundPayments, foundRequests } from './tables.ts';

const maxShown = 10;

/** `GET /admin/merchants/:id`: any partner's merchant with its newest requests and unmatched payments, read only. */
export function adminMerchant(pages: AdminPages, ctx: Context): void {
  pages.page({ url: '/admin/merchants/:id' }, async (call) => {
    const id = call.param('id').toLowerCase();
    const scope = isUuid(id) ? await scopeOfMerchant(ctx.db, id) : null;
    return scope ? show(ctx, call, scope, id) : sendNotFound(call.reply);
  });
}

async function show(ctx: Context, call: AdminCall, scope: Scope, id: string) {
  const { words } = call;
  await recordView(ctx, call.actor, scope, { kind: 'merchant', id });
  const [merchant, requests, unmatched] = await Promise.all([
    readMerchant(ctx, scope, id),
    browseRequests(ctx, scope, { accountId: id }, null),
    browseUnmatched(ctx, scope, { accountId: id }, null),
  ]);
  if (!merchant) return sendNotFound(call.reply);
  const admin = adminTexts(words);
  const { merchants: t } = admin;
  const newest = requests.rows.slice(0, maxShown).map((row) => ({ scope, row }));
  const payments = unmatched.rows.slice(0, maxShown).map((row) => ({ scope, row }));
  const { wallet_address: wallet, terms_version: terms } = merchant;
  return call.show({
    path: '/admin/merchants',
    title: firstVisible(merchant.business_name, merchant.display_name) ?? portalTexts(words).requests.unnamed,
    body: html`
      <div class="row">
        ${merchant.onboarded_at === null ? badge('waiting', t.incomplete) : badge('paid', t.complete)}
        ${merchant.disabled_by_operator && badge('ended', t.byOperator)}
        ${merchant.disabled_by_partner && badge('ended', t.byPartner)}
      </div>
      ${card(
        descriptionList([
          copyableFact(words, portalTexts(words).merchants.number, id),
          [admin.partner, html`<a href="/admin/partners/${merchant.home_portal}">${merchant.partner_name}</a>`],
          [admin.mode, admin[modeOf(scope.testMode)]],
          wallet === null ? null : copyableFact(words, t.wallet, checksummed(wallet)),
          merchant.email === null
            ? null
            : copyableFact(
                words,
                portalTexts(words).merchants.email,
                merchant.email,
                html`<span>${merchant.email}</span>`,
              ),
          [portalTexts(words).merchants.currency, merchant.display_currency],
          terms === null ? null : [t.terms, terms],
          [admin.created, instant(words, merchant.created_at)],
        ]),
        html`<p><a href="/admin/merchants?q=${id}">${t.toSwitch}</a></p>`,
      )}
      ${newest.length > 0 && foundRequests(words, newest, ctx.clock.now())}
      ${payments.length > 0 && foundPayments(words, payments, ctx)}
    `,
  });
}
