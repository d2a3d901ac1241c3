import { confirmTransfer } from '../../chain/confirm.ts';
import { isFinalForAll, queryHeads } from '../../chain/endpoint-heads.ts';
import { connectRpc, nullOfRpc } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { selectTransfer, type TransferKey, type TransferRow } from '../transfers.ts';
import { asSeen, needsCrossCheck, readChainView, standsFinal } from './heads.ts';

const timeoutMs = 4_000;

/**
 * Whether a payment is certain enough to refund: final for its whole value and, if the chain has several endpoints,
 * confirmed by each as final. One that a reorganisation has removed since is not. Queries the endpoints, so no
 * transaction may be open.
 */
export async function isFinalPayment(ctx: Context, row: TransferRow): Promise<boolean> {
  const view = await readChainView(ctx, ctx.db.sql, row.test_mode);
  const chain = view.get(Number(row.chain_id))?.chain;
  if (!chain || !standsFinal(row, BigInt(row.value), view)) return false;
  // All endpoints have confirmed what was marked as final. Its row stays if a reorganisation removes it later.
  if (row.final_at !== null) return !(await isBlockReplaced(chain, row));
  if (!needsCrossCheck(chain)) return true;
  // Only the transfer's own log decides who gets the money back. The block's time, the one thing that may still differ,
  // does not matter.
  const [confirmation, heads] = await Promise.all([
    confirmTransfer(chain, { ...asSeen(row), calldata: null, bindings: null }),
    queryHeads(chain, timeoutMs),
  ]);
  const isDeep = heads !== null && isFinalForAll(heads, Number(row.block_number), BigInt(row.value), chain);
  return isDeep && (confirmation === 'agreed' || confirmation === 'altered');
}

/** Whether any endpoint that answers has another block in place of the payment's. */
async function isBlockReplaced(chain: ChainConfig, row: TransferRow): Promise<boolean> {
  const number = Number(row.block_number);
  const headers = await Promise.all(
    chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).header(number).catch(nullOfRpc)),
  );
  return headers.some((header) => header !== null && header.hash !== row.block_hash);
}

/**
 * Asks about a payment before its refund is started (`startRefund`).
 *
 * @param accountId the merchant who decides: the payment must be theirs
 * @returns the payment as it was confirmed; null while it is not final
 * @throws Refusal not_found
 */
export async function readFinalPayment(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<TransferRow | null> {
  const row = await ctx.db.scoped(scope, (tx) => selectTransfer(tx, scope, key));
  if (row?.account_id !== accountId) throw refuse('not_found');
  return (await isFinalPayment(ctx, row)) ? row : null;
}

/** Whether a payment is still the one that was confirmed: a reorganisation may have replaced it. */
export function isAsConfirmed(row: TransferRow, confirmed: TransferRow): boolean {
  return (['block_hash', 'token_address', 'from_address', 'to_address', 'value'] as const).every(
    (name) => row[name] === confirmed[name],
  );
}
