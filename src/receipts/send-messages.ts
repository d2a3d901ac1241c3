import { takeDailyQuota } from '../auth/daily-quota.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { wholeQueue } from '../db/due.ts';
import { workThrough } from '../lib/concurrency/work-through.ts';
import type { Gateway } from './gateway.ts';
import { takeReceipt } from './limits.ts';
import { receiptMessage } from './message.ts';
import { readReceipt } from './read.ts';
import { claimReceipts, type DueReceipt, updateDone, updateReceiptFailed } from './store.ts';

/** Messages under way at a time in this process. */
const atOnce = 8;
/**
 * The first wait is longer than an attempt takes. Ten attempts take about 8 hours, after which a receipt is no longer
 * useful.
 */
const waits = { firstMs: 30_000, maxAttempts: 10 };

/**
 * Sends due receipts to the operator's gateway. A failed one is retried, each time with the request's id, so that the
 * gateway can recognise a duplicate.
 *
 * @param signal no further message is started once it aborts
 * @param since from when on receipts that wait are read
 * @returns how many were accepted
 */
export function sendMessages(ctx: Context, signal: AbortSignal, gateway: Gateway, since = wholeQueue): Promise<number> {
  return workThrough(
    signal,
    async (underWay) => (underWay < atOnce ? claimReceipts(ctx.db, 'phone', waits, atOnce - underWay, since()) : []),
    (receipt) => sendOne(ctx, gateway, receipt),
  );
}

async function sendOne(ctx: Context, gateway: Gateway, receipt: DueReceipt): Promise<boolean> {
  const scope = scopeOfRow(receipt);
  const { request_id: requestId, attempts } = receipt;
  const { sql } = ctx.db;
  try {
    const facts = await readReceipt(ctx, scope, requestId);
    const phone = facts?.row.customer_phone;
    if (!facts || !phone) {
      await updateDone(sql, scope, requestId, 'phone');
      return false;
    }
    const message = { channel: 'phone', accountId: facts.row.account_id, to: phone } as const;
    if (!(await ctx.db.scoped(scope, (tx) => countOrDrop(ctx, tx, scope, requestId, message)))) {
      ctx.log.warn({ request_id: requestId }, 'a message was not sent: too many were sent today');
      return false;
    }
    const answer = await gateway.send({ id: requestId, to: phone, text: receiptMessage(facts) });
    if (answer.kind === 'taken') {
      await updateDone(sql, scope, requestId, 'phone');
      await clearAlarm(sql, 'phone_gateway');
      return true;
    }
    const givenUp = answer.kind === 'refused' || attempts >= waits.maxAttempts;
    ctx.log.warn({ request_id: requestId, why: answer.why, given_up: givenUp }, 'a message could not be sent');
    await updateReceiptFailed(sql, scope, receipt, { error: answer.why, givenUp });
    if (answer.kind === 'failed') {
      await raiseAlarm(sql, { kind: 'phone_gateway', subject: '', details: { fault: answer.why } });
    }
  } catch (error) {
    ctx.log.error({ err: error, request_id: requestId }, 'an attempt to send a message failed');
  }
  return false;
}

/**
 * Counts a message once a day for all its attempts, at the first that gets this far.
 *
 * @returns false when too many were sent: it is given up
 */
async function countOrDrop(
  ctx: Context,
  tx: Tx,
  scope: Scope,
  requestId: string,
  message: Parameters<typeof takeReceipt>[3],
): Promise<boolean> {
  if (!(await takeDailyQuota(tx, scope, 'message', { subject: requestId, max: 1 }))) return true;
  if (await takeReceipt(ctx, tx, scope, message)) return true;
  await updateDone(tx, scope, requestId, 'phone');
  return false;
}
