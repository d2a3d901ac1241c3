import { allChains } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { ListedMerchant } from '../../merchants/all-partners.ts';
import type { ListedPartner } from '../../partners/browse.ts';
import { keyOf, writeTransferKey } from '../../payments/transfers.ts';
import type { UnmatchedRow } from '../../payments/unmatched/browse.ts';
import type { BrowsedRow } from '../../requests/lists/browse.ts';
import { madeAt } from '../../requests/rules.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { shortAddress } from '../../ui/components.ts';
import { ago } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { paymentAmount } from '../../web/payment-amount.ts';
import { requestStatusBadge } from '../../web/request-status.ts';
import { table } from '../../web/table.ts';

export type FoundRequest = { scope: Scope; row: BrowsedRow };
export type FoundPayment = { scope: Scope; row: UnmatchedRow };

/** Requests of any partner, each with a link to its page for operators. */
export function foundRequests(words: Words, found: FoundRequest[], now: Date): Html {
  const { requests } = portalTexts(words);
  const admin = adminTexts(words);
  return html`
    <h2>${requests.list}</h2>
    ${table<FoundRequest>(
      requests.list,
      [
        {
          name: requests.amount,
          cell: ({ row }) => html`
            <a href="/admin/requests/${row.id}">
              ${formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language)}
            </a>
          `,
        },
        {
          name: requests.merchant,
          cell: ({ row }) =>
            html`<a href="/admin/merchants/${row.account_id}">${row.merchant_name ?? requests.unnamed}</a>`,
        },
        { name: admin.mode, cell: ({ scope }) => admin[modeOf(scope.testMode)] },
        { name: requests.memo, cell: ({ row }) => row.memo && html`<span class="clip" dir="auto">${row.memo}</span>` },
        { name: requests.status, cell: ({ row }) => requestStatusBadge(words, row.display_status) },
        { name: requests.created, cell: ({ row }) => ago(words, madeAt(row), now) },
      ],
      found,
    )}
  `;
}

/** Unmatched payments of any partner. */
export function foundPayments(words: Words, found: FoundPayment[], ctx: Context): Html {
  const { unmatched, requests, reasons } = portalTexts(words);
  const admin = adminTexts(words);
  const chains = allChains(ctx.chains);
  const amount = (row: UnmatchedRow) => paymentAmount(words, chains, row);
  return html`
    <h2>${unmatched.list}</h2>
    ${table<FoundPayment>(
      unmatched.list,
      [
        {
          name: unmatched.amount,
          cell: ({ row }) => html`<a href="/admin/payments/${writeTransferKey(keyOf(row))}">${amount(row)}</a>`,
        },
        {
          name: unmatched.merchant,
          cell: ({ row }) =>
            html`<a href="/admin/merchants/${row.account_id}">${row.merchant_name ?? requests.unnamed}</a>`,
        },
        { name: admin.mode, cell: ({ scope }) => admin[modeOf(scope.testMode)] },
        { name: unmatched.why, cell: ({ row }) => reasons[row.reason ?? 'no_match'] },
        { name: unmatched.payer, cell: ({ row }) => shortAddress(row.from_address) },
        { name: unmatched.when, cell: ({ row }) => ago(words, row.block_time, ctx.clock.now()) },
      ],
      found,
    )}
  `;
}

/** Merchants of any partner. */
export function foundMerchants(words: Words, found: ListedMerchant[]): Html {
  const admin = adminTexts(words);
  const { places, merchants } = admin;
  return html`
    <h2>${places.merchants}</h2>
    ${table<ListedMerchant>(
      places.merchants,
      [
        {
          name: merchants.name,
          cell: ({ id, name }) =>
            html`<a href="/admin/merchants/${id}">${name ?? portalTexts(words).requests.unnamed}</a>`,
        },
        {
          name: admin.partner,
          cell: ({ partner_slug: slug, partner_name: name }) =>
            html`<a href="/admin/partners/${slug}" title="${slug}" dir="auto">${name}</a>`,
        },
        { name: admin.mode, cell: ({ test_mode }) => admin[modeOf(test_mode)] },
      ],
      found,
    )}
  `;
}

/** Partners, each with a link to its page. */
export function foundPartners(words: Words, found: ListedPartner[]): Html {
  const { places, partner, partners } = adminTexts(words);
  return html`
    <h2>${places.partners}</h2>
    ${table<ListedPartner>(
      places.partners,
      [
        { name: partner, cell: ({ slug, name }) => html`<a href="/admin/partners/${slug}">${name}</a>` },
        { name: partners.slug, cell: ({ slug }) => slug },
      ],
      found,
    )}
  `;
}
