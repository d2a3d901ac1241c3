import type { Context } from '../../context.ts';
import type { Database, Scope, Tx } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { producerSkewMs } from '../../lib/durations.ts';
import { findRequest } from '../../requests/read.ts';
import { isRejected, minPartMicro } from '../rules.ts';
import { hasRefund, selectTransfer, type TransferKey, type TransferRow } from '../transfers.ts';
import { type AttachableRow, countMerchantUnmatched, selectAttachable } from './merchant-store.ts';

/** At most this many are counted; pages call more "many". */
export const countedOpen = 100;

/** How many unmatched payments wait for the merchant, at most `countedOpen`. */
export function countOpenPayments(db: Database, scope: Scope, accountId: string): Promise<number> {
  return db.scoped(scope, (tx) => countMerchantUnmatched(tx, scope, accountId, countedOpen));
}

/** A request that an unmatched payment would pay, in full or in part. */
export type Attachable = {
  requestId: string;
  fiatInt: bigint;
  fiatCode: string;
  dueMicro: bigint;
  /** The sum of partial payments that it already has. */
  paidMicro: bigint;
  memo: string | null;
  customerName: string | null;
  createdAt: Date;
  expiresAt: Date;
};

type OpenPayment = {
  row: TransferRow;
  /** The merchant's request that the payment seems meant for. */
  meantFor: string | null;
  attachable: Attachable[];
  askable: Attachable[];
};

const maxAttachable = 50;
const maxAskable = 10;

/**
 * An unmatched payment of a merchant with the requests that it could pay. They are to the same wallet, older than the
 * payment, and neither paid nor cancelled. It completes the sum of those that are `attachable`; those that are
 * `askable` are still open, and would ask for the rest. Both lists begin with the nearest amount.
 *
 * @returns the request's id instead, once it is attached to one
 * @throws Refusal not_found
 */
export async function readOpenPayment(
  ctx: Pick<Context, 'db' | 'clock'>,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<OpenPayment | { attachedTo: string }> {
  return ctx.db.scoped(scope, async (tx) => {
    const row = await selectTransfer(tx, scope, key);
    if (!row || row.account_id !== accountId || row.judged_at === null) throw refuse('not_found');
    if (row.request_id !== null) return { attachedTo: row.request_id };
    const meantFor = await findMeantFor(tx, scope, row);
    const isNever = isRejected(row.reason) || (await hasRefund(tx, scope, key));
    const madeBefore = new Date(row.block_time.getTime() + producerSkewMs);
    if (isNever) return { row, meantFor, attachable: [], askable: [] };
    const attachable = await selectAttachable(tx, scope, row, { madeBefore, leaves: 'nothing', limit: maxAttachable });
    const isDust = BigInt(row.value) < minPartMicro;
    const leaves = { restAt: ctx.clock.now() };
    const askable = isDust ? [] : await selectAttachable(tx, scope, row, { madeBefore, leaves, limit: maxAskable });
    return { row, meantFor, attachable: attachable.map(toAttachable), askable: askable.map(toAttachable) };
  });
}

/** A payment can also name a request of another merchant. */
async function findMeantFor(tx: Tx, scope: Scope, row: TransferRow): Promise<string | null> {
  const request = row.candidate_request_id === null ? null : await findRequest(tx, scope, row.candidate_request_id);
  return request?.account_id === row.account_id ? request.id : null;
}

function toAttachable(row: AttachableRow): Attachable {
  return {
    requestId: row.id,
    fiatInt: BigInt(row.fiat_int),
    fiatCode: row.fiat_code,
    dueMicro: BigInt(row.usdc_micro),
    paidMicro: BigInt(row.counted_micro),
    memo: row.memo,
    customerName: row.customer_name,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
