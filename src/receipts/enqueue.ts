import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { isOneAddress } from '../lib/text/email.ts';
import { type Channel, insertReceipts, type Owed } from './store.ts';

/** The fields of a request that receipts need. */
type Paid = { id: string; customer_email: string | null; customer_phone: string | null };

const minDigits = 5;

/** How this customer can get a receipt. Text messages cost money, so those of test payments stay in the sandbox. */
export function channelsFor({ config }: Pick<Context, 'config'>, scope: Scope, request: Paid): Channel[] {
  const { customer_email: email, customer_phone: phone } = request;
  const byPhone = config.phoneGateway !== null && (!scope.testMode || config.sandbox);
  const digits = phone?.replace(/\D/g, '').length ?? 0;
  return [
    ...(email !== null && isOneAddress(email) ? (['mail'] as const) : []),
    ...(byPhone && digits >= minDigits ? (['phone'] as const) : []),
  ];
}

/**
 * Stores the receipts that verified requests are owed; loops send them. Call it in the transaction that sets
 * `verified`. It never fails: a payment matters more than its receipt. If the first cannot be stored within a quarter
 * of a second, the others do not wait as well; a loop finds what is missing (`sweep.ts`).
 */
export async function enqueueReceipts(
  tx: Tx,
  ctx: Pick<Context, 'config' | 'log'>,
  paid: readonly ({ scope: Scope } & Paid)[],
): Promise<void> {
  const [first, ...others] = paid.flatMap(({ scope, ...request }): Owed[] => {
    const channels = channelsFor(ctx, scope, request);
    const { partnerId: partner_id, testMode: test_mode } = scope;
    return channels.length > 0 ? [{ partner_id, test_mode, request_id: request.id, channels }] : [];
  });
  if (!first) return;
  const firstFault = await insertReceipts(tx, [first]);
  const fault = firstFault ?? (others.length > 0 ? await insertReceipts(tx, others) : null);
  if (fault === null) return;
  const { request_id, channels } = first;
  ctx.log.error({ request_id, channels, others: others.length, fault }, 'a receipt could not be queued');
}
