import type { CsvRow } from '../lib/text/csv.ts';
import { csvMicro } from '../web/csv-amounts.ts';
import { isRefundSent, type RefundRow } from './read.ts';

/** The last columns of exports of unmatched payments; `docs/exports.md` explains them. */
export const refundOfPaymentHeader = ['given_back', 'given_back_tx_hash', 'refunded_usdc', 'refunded_at'];

/** Their cells; all empty without a refund. */
export const refundOfPaymentCells = (refund: RefundRow | undefined): CsvRow => [
  refund?.state ?? null,
  refund?.return_tx_hash ?? null,
  csvMicro(refund?.given_micro ?? null),
  refund && isRefundSent(refund) ? refund.noted_at : null,
];
