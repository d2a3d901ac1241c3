import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { receiptNumber } from '../../lib/text/receipt-number.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import type { DisplayStatus, MerchantRequestRow } from '../../requests/lists/by-merchant.ts';
import { madeAt } from '../../requests/rules.ts';
import type { RequestRow } from '../../requests/store.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { badge, type StateKind } from '../../ui/components.ts';
import { ago, columnMicro, groupMicro } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { table } from '../../web/table.ts';

const shapes: Record<DisplayStatus, StateKind> = {
  open: 'waiting',
  part: 'attention',
  confirming: 'confirming',
  paid: 'paid',
  expired: 'ended',
  voided: 'ended',
};
export const displayStatuses = Object.keys(shapes) as DisplayStatus[];

/** A request's status as a word and a shape. */
export function dashboardStatusBadge(words: Words, displayStatus: DisplayStatus): Html {
  return badge(shapes[displayStatus], dashboardTexts(words).displayStatus[displayStatus]);
}

/** The status of a single request, without regard to partial payments. Its `status` must be the effective one. */
export function dashboardStatusOf(row: { status: string; proof_status: string }): Exclude<DisplayStatus, 'part'> {
  if (row.proof_status === 'verified') return 'paid';
  if (row.proof_status === 'attached') return 'confirming';
  if (row.status === 'voided') return 'voided';
  return row.status === 'expired' ? 'expired' : 'open';
}

/** The name that a person would use for a request: its customer, its purpose, or otherwise its receipt number. */
export function callName(
  row: Pick<RequestRow, 'id' | 'created_at' | 'made_at' | 'proof_verified_at' | 'customer_name' | 'memo'>,
): string {
  const named = firstVisible(row.customer_name, ...(row.memo?.split('\n') ?? []));
  return named ?? receiptNumber(row.id, row.proof_verified_at ?? madeAt(row));
}

/** What needs a decision besides a request's status: money that is missing, is too much, or does not count. */
function besides(words: Words, row: MerchantRequestRow): Html[] {
  const { payment: t } = dashboardTexts(words);
  const [due, received] = [BigInt(row.usdc_micro), BigInt(row.received_micro)];
  const [overpaid, unmatched] = [BigInt(row.overpaid_micro), BigInt(row.unmatched_micro)];
  const line = (text: string, micro: bigint) =>
    html`<p class="quiet">${fill(text, { amount: groupMicro(words, micro) })}</p>`;
  return [
    row.display_status === 'part' ? line(t.short, due - received) : null,
    overpaid > 0n ? line(t.over, overpaid) : null,
    unmatched > 0n ? line(t.stray, unmatched) : null,
  ].filter((one) => one !== null);
}

/** The requests of a merchant as a table, in the order of `rows`. */
export function paymentTable(words: Words, rows: MerchantRequestRow[], now: Date): Html {
  const { list } = dashboardTexts(words);
  return table<MerchantRequestRow>(
    list.title,
    [
      {
        name: list.for,
        cell: (row) => html`<a class="clip" dir="auto" href="/dashboard/payments/${row.id}">${callName(row)}</a>`,
      },
      {
        name: list.amount,
        figures: true,
        cell: (row) => formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language),
      },
      { name: 'USDC', figures: true, cell: (row) => columnMicro(words, BigInt(row.usdc_micro)) },
      {
        name: list.state,
        cell: (row) => html`<div>${dashboardStatusBadge(words, row.display_status)}${besides(words, row)}</div>`,
      },
      { name: list.when, cell: (row) => ago(words, madeAt(row), now) },
    ],
    rows,
  );
}
