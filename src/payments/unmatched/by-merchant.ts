import type { Context } from '../../context.ts';
import type { Database, Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { type ReturnRow, selectReturn, selectReturns } from '../../refunds/store.ts';
import { producerSkewMs } from '../rules.ts';
import { selectTransfer, type TransferKey, type TransferRow } from '../store.ts';
import { type AttachableRow, countMerchantUnmatched, selectAttachable } from './merchant-store.ts';

export { type ReturnRow, standsReturned } from '../../refunds/store.ts';

/**
 * What is known of payments that are given back.
 *
 * @returns by `writeTransferKey`; a payment that nobody took is not in it
 */
export async function readReturns(db: Database, scope: Scope, keys: TransferKey[]): Promise<Map<string, ReturnRow>> {
  if (keys.length === 0) return new Map();
  const found = await db.scoped(scope, (tx) => selectReturns(tx, scope, keys));
  return new Map(found.map((row) => [`${row.chain_id}_${row.tx_hash}_${row.ordinal}`, row]));
}

/** What names a transfer in an address: `31337_0x…_0`. */
export function writeTransferKey({ chainId, txHash, ordinal }: TransferKey): string {
  return `${chainId}_${txHash}_${ordinal}`;
}

/** The key out of an address; null for what is none. */
export function readTransferKey(text: string): TransferKey | null {
  const match = /^(\d{1,15})_(0x[0-9a-f]{64})_(\d{1,6})$/.exec(text);
  return match && { chainId: Number(match[1]), txHash: match[2] as string, ordinal: Number(match[3]) };
}

/** So many are counted; more is "many". */
export const countedOpen = 100;

/** How many unmatched payments wait for the merchant, at most `countedOpen`. */
export function countOpenPayments(db: Database, scope: Scope, accountId: string): Promise<number> {
  return db.scoped(scope, (tx) => countMerchantUnmatched(tx, scope, accountId, countedOpen));
}

/** A request that an unmatched payment would pay in full. */
export type Attachable = {
  requestId: string;
  fiatInt: bigint;
  fiatCode: string;
  dueMicro: bigint;
  /** What it got already, in parts. */
  paidMicro: bigint;
  memo: string | null;
  customerName: string | null;
  createdAt: Date;
  expiresAt: Date;
};

const maxAttachable = 50;

/**
 * An unmatched payment of a merchant with the requests that it could pay: to the same wallet, older than the payment,
 * neither paid nor cancelled, and the sum suffices.
 *
 * @throws Refusal not_found, also once it is attached
 */
export async function readOpenPayment(
  ctx: Pick<Context, 'db'>,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<{ row: TransferRow; given: ReturnRow | null; attachable: Attachable[] }> {
  return ctx.db.scoped(scope, async (tx) => {
    const row = await selectTransfer(tx, scope, key);
    if (!row || row.account_id !== accountId || row.request_id !== null || row.judged_at === null) {
      throw refuse('not_found');
    }
    const given = await selectReturn(tx, scope, key);
    const never = given !== null || row.reason === 'wrong_token' || row.reason === 'self_transfer';
    const madeBefore = new Date(row.block_time.getTime() + producerSkewMs);
    const found = never ? [] : await selectAttachable(tx, scope, row, madeBefore, maxAttachable);
    return { row, given, attachable: found.map(toAttachable) };
  });
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
