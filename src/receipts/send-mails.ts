import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { wholeQueue } from '../db/due.ts';
import { queueCustomerMail } from '../mail/outbox.ts';
import { readMailBranding } from '../partners/branding.ts';
import { lockCustomer } from '../requests/customer.ts';
import { takeReceipt } from './limits.ts';
import { receiptMail } from './mail.ts';
import { readReceipt } from './read.ts';
import { claimReceipts, updateDone, updateReceiptFailed } from './store.ts';

const atOnce = 20;
const perPass = 500;
const waits = { firstMs: 30_000, maxAttempts: 12 };

/**
 * Turns due receipts into mails, which the outbox sends. Over all nodes each becomes one mail: both are written in one
 * transaction, and the request's key prevents a second one.
 *
 * @param since from when on receipts that wait are read
 * @returns how many were made
 */
export async function mailReceipts(ctx: Context, signal: AbortSignal, since = wholeQueue): Promise<number> {
  let made = 0;
  for (let begun = 0; begun < perPass && !signal.aborted; ) {
    const due = await claimReceipts(ctx.db, 'mail', waits, atOnce, since());
    if (due.length === 0) break;
    begun += due.length;
    for (const receipt of due) {
      const scope = scopeOfRow(receipt);
      try {
        if (await mailOne(ctx, scope, receipt.request_id)) made++;
      } catch (error) {
        ctx.log.error({ err: error, request_id: receipt.request_id }, 'a receipt mail could not be made');
        const failed = { error: (error as Error).message.slice(0, 200), givenUp: false };
        await updateReceiptFailed(ctx.db.sql, scope, receipt, failed);
      }
    }
  }
  return made;
}

async function mailOne(ctx: Context, scope: Scope, requestId: string): Promise<boolean> {
  const [facts, branding] = await Promise.all([
    readReceipt(ctx, scope, requestId),
    readMailBranding(ctx, scope.partnerId),
  ]);
  return ctx.db.scoped(scope, async (tx) => {
    // Checked again under the lock: the customer's data may have been erased meanwhile.
    const customer = await lockCustomer(tx, scope, requestId);
    const isFirst = await updateDone(tx, scope, requestId, 'mail');
    if (!isFirst || !facts || !customer?.email) return false;
    const receipt = { channel: 'mail', accountId: facts.row.account_id, to: customer.email } as const;
    if (!(await takeReceipt(ctx, tx, scope, receipt))) {
      ctx.log.warn({ request_id: requestId }, 'a receipt was not mailed: too many were sent to this address today');
      return false;
    }
    const mail = receiptMail(facts, branding, customer.email);
    await queueCustomerMail(ctx, tx, scope, { requestId, purpose: 'receipt', ...mail });
    return true;
  });
}
