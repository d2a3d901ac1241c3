import { assetId } from '../lib/ids.ts';
import type { CsvRow } from '../lib/text/csv.ts';
import type { TransferColumns } from '../requests/lists/page-transfers-store.ts';
import { csvMicro } from './csv-amounts.ts';

/** Columns of exports of requests, after those of refunds; `docs/exports.md` explains them. */
export const transferHeader = ['payment_asset_ids', 'payment_tx_hashes', 'payment_usdc'];

/** Their cells. Several payments of one request share a cell, separated by spaces, oldest first. */
export const transferCells = (row: TransferColumns): CsvRow => [
  row.counted_tokens?.map((token, i) => assetId(row.counted_chain_ids?.[i] ?? '', token)).join(' ') ?? null,
  row.counted_tx_hashes?.join(' ') ?? null,
  row.counted_micros?.map(csvMicro).join(' ') ?? null,
];
