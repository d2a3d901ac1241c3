import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { receiptNumber } from '../lib/text/receipt-number.ts';
import { payeeName } from '../merchants/payee-name.ts';
import { type PayPageRow, readPayPageRow } from '../requests/pay-page.ts';
import { payPageUrl } from '../requests/render.ts';
import { type Words, wordsKept } from '../ui/language.ts';
import { selectReceived } from './store.ts';

/** What a receipt says, wherever it is sent. `link` is its page, which stays. */
export type ReceiptFacts = {
  row: PayPageRow & { proof_verified_at: Date; tx_hash: string };
  /** What was paid, which can be more than what was requested. */
  receivedMicro: bigint;
  merchant: string;
  number: string;
  link: string;
  words: Words;
};

/** The receipt of a verified request in its customer's language, else in English; null when there is none. */
export async function readReceipt(ctx: Context, scope: Scope, requestId: string): Promise<ReceiptFacts | null> {
  const row = await readPayPageRow(ctx.db, scope, requestId);
  if (!row || row.proof_verified_at === null || row.tx_hash === null) return null;
  const { proof_verified_at, tx_hash, customer_language: language } = row;
  const [received] = await ctx.db.readPrimary(scope, (sql) => selectReceived(sql, scope, requestId));
  return {
    row: { ...row, proof_verified_at, tx_hash },
    receivedMicro: BigInt(received?.received_micro ?? 0),
    merchant: payeeName(row),
    number: receiptNumber(row.id, proof_verified_at),
    link: `${payPageUrl(ctx.config, row.id)}/receipt`,
    words: wordsKept(language),
  };
}
