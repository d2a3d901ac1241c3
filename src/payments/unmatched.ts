import type { Context } from '../context.ts';
import type { Database, Scope } from '../db/connection.ts';
import { bind } from './bind.ts';
import { insist } from './busy.ts';
import { lockTransfer } from './merchant-store.ts';
import { boundOutcome, type Outcome } from './outcome.ts';
import { selectReturn, standsReturned } from './return-store.ts';
import type { Reason } from './rules.ts';
import { selectUnmatched, type TransferKey, type TransferRow } from './store.ts';

/** Money that arrived at a merchant's wallet and pays no request. */
export type UnmatchedPayment = TransferKey & {
  accountId: string;
  fromAddress: string;
  toAddress: string;
  tokenAddress: string;
  usdcMicro: bigint;
  blockTime: Date;
  reason: Reason;
  /** The request it seems to be meant for. */
  candidateRequestId: string | null;
};

const maxLimit = 100;

/**
 * One page of unmatched payments, newest first.
 *
 * @param page `accountId` null: of all merchants of the scope
 */
export async function listUnmatched(
  db: Database,
  scope: Scope,
  page: { accountId: string | null; limit: number; offset: number },
): Promise<UnmatchedPayment[]> {
  const limited = { ...page, limit: Math.min(page.limit, maxLimit) };
  return (await db.scoped(scope, (tx) => selectUnmatched(tx, scope, limited))).map(toPayment);
}

function toPayment(row: TransferRow): UnmatchedPayment {
  return {
    chainId: Number(row.chain_id),
    txHash: row.tx_hash,
    ordinal: row.ordinal,
    accountId: row.account_id,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    tokenAddress: row.token_address,
    usdcMicro: BigInt(row.value),
    blockTime: row.block_time,
    reason: row.reason ?? 'no_match',
    candidateRequestId: row.candidate_request_id,
  };
}

/**
 * A merchant attaches an unmatched payment to a request by hand, late money too, if the sum then pays it in full. It is
 * verified like any other. A cancelled request stays cancelled.
 *
 * @param attach `accountId` is the merchant who decides: the transfer must be theirs
 * @returns `underpaid` with what is missing when the sum does not suffice, `already_used` for what was given back; nothing
 *   is changed then
 */
export async function attachUnmatched(
  ctx: Context,
  scope: Scope,
  attach: TransferKey & { accountId: string; requestId: string },
): Promise<Outcome> {
  const key: TransferKey = { chainId: attach.chainId, txHash: attach.txHash.toLowerCase(), ordinal: attach.ordinal };
  return insist(() =>
    ctx.db.scoped(scope, async (tx): Promise<Outcome> => {
      const row = await lockTransfer(tx, scope, key);
      if (!row || row.judged_at === null || row.account_id !== attach.accountId) return { kind: 'not_found' };
      if (row.request_id !== null) return { kind: 'already_used' };
      if (row.reason === 'wrong_token' || row.reason === 'self_transfer') return { kind: 'wrong_token' };
      if (standsReturned(await selectReturn(tx, scope, key))) return { kind: 'already_used' };
      const { requestId } = attach;
      return boundOutcome(
        await bind(tx, ctx, scope, { row, requestId, rule: 'merchant', from: 'unmatched', confirmed: false }),
      );
    }),
  );
}
