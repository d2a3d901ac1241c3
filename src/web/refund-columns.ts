import type { CsvRow } from '../lib/text/csv.ts';
import type { RefundColumns } from '../requests/lists/page-refunds-store.ts';
import { csvMicro } from './csv-amounts.ts';

/** The last columns of exports of requests; `docs/exports.md` explains them. */
export const refundHeader = ['refunded_usdc', 'refund_status', 'refund_tx_hash', 'refunded_at'];

/** Their cells. Several refunds of one request share a cell, separated by spaces, oldest first. */
export const refundCells = (row: RefundColumns): CsvRow => [
  csvMicro(row.refunded_micro),
  row.refund_states?.join(' ') ?? null,
  row.refund_tx_hashes?.join(' ') ?? null,
  row.refunded_at,
];
