import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import type { Due } from '../db/due.ts';
import { isOneAddress } from '../lib/text/email.ts';
import { type Channel, insertReceipts } from './store.ts';

/** A request as far as receipts go. */
type Paid = { id: string; customer_email: string | null; customer_phone: string | null };

const leastDigits = 5;

/** How this customer can get a receipt. Text messages cost money, so those of test payments stay in the sandbox. */
export function channelsFor({ config }: Pick<Context, 'config'>, scope: Scope, request: Paid): Channel[] {
  const { customer_email: email, customer_phone: phone } = request;
  const byPhone = config.phoneGateway !== null && (!scope.testMode || config.sandbox);
  const digits = phone?.replace(/\D/g, '').length ?? 0;
  return [
    ...(email !== null && isOneAddress(email) ? (['mail'] as const) : []),
    ...(byPhone && digits >= leastDigits ? (['phone'] as const) : []),
  ];
}

/**
 * Stores the receipts that a verified request is owed; loops send them. Call it in the transaction that sets
 * `verified`. It never fails, and waits at most a quarter of a second: a payment matters more than its receipt.
 */
export async function enqueueReceipts(
  tx: Tx,
  ctx: Pick<Context, 'config' | 'log'>,
  scope: Scope,
  request: Paid,
): Promise<void> {
  const channels = channelsFor(ctx, scope, request);
  if (channels.length === 0) return;
  const fault = await insertReceipts(tx, scope, request.id, channels);
  if (fault !== null) ctx.log.error({ request_id: request.id, channels, fault }, 'a receipt could not be queued');
}

/** The next attempt of a receipt that goes this way; those that were given up have none. */
export const receiptsDue =
  (channel: Channel): Due =>
  (sql) =>
    sql`
    select min(next_attempt_at) from receipts
    where channel = ${channel} and done_at is null and next_attempt_at < 'infinity'`;
