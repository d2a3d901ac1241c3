import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isAsConfirmed } from '../payments/proof/firm.ts';
import { keyOf, lockTransfer, selectTransfer, type TransferKey, type TransferRow } from '../payments/transfers.ts';
import { lockForProof } from '../requests/proof.ts';
import { returnableMicro } from './refund.ts';
import { insertTaken, updateKept } from './store.ts';

/** A payment that is taken to be given back: all of an unmatched one, or what a request got too much. */
export type Taken = { kind: 'taken'; requestId: string | null; usdcMicro: bigint };

/**
 * Takes a payment, under its lock, before the transfer back is offered: from then on nothing binds it, neither a rule nor
 * its sender's signature nor the merchant, until the merchant puts it back.
 *
 * @param accountId the merchant who decides: the payment must be theirs
 * @param firm what `readFirm` found of it, before any transaction
 * @returns `again` when it is taken already, `too_early` while it is not firm
 * @throws Refusal not_found, also when there is nothing to give back
 */
export function takeForReturn(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: TransferKey,
  firm: TransferRow | null,
): Promise<Taken | { kind: 'again' | 'too_early' }> {
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx): Promise<Taken | { kind: 'again' | 'too_early' }> => {
      const seen = await selectTransfer(tx, scope, key);
      if (seen?.account_id !== accountId) throw refuse('not_found');
      const requestId = seen.request_id;
      if (requestId !== null) await lockForProof(tx, scope, requestId);
      const row = await lockTransfer(tx, scope, key, accountId);
      if (row?.request_id !== requestId) throw refuse('not_found');
      if (!firm || !isAsConfirmed(row, firm)) return { kind: 'too_early' };
      return (await takeLocked(tx, ctx, scope, row)) ?? { kind: 'again' };
    }),
  );
}

/**
 * Takes a payment that is locked, with the request that it is bound to, and is known to be firm.
 *
 * @returns null when it is taken already
 * @throws Refusal not_found when there is nothing to give back
 */
export async function takeLocked(tx: Tx, ctx: Context, scope: Scope, row: TransferRow): Promise<Taken | null> {
  const usdcMicro = await returnableMicro(tx, scope, row);
  if (usdcMicro === 0n) throw refuse('not_found');
  const { request_id: requestId, account_id: accountId, token_address: tokenAddress } = row;
  const addresses = { tokenAddress, fromAddress: row.to_address, toAddress: row.from_address };
  const notedAt = ctx.clock.now();
  const taken = await insertTaken(tx, scope, { ...keyOf(row), accountId, requestId, ...addresses, usdcMicro, notedAt });
  return taken ? { kind: 'taken', requestId, usdcMicro } : null;
}

/**
 * Puts a taken payment back by the merchant's word that nothing was sent: it stands again as it did. What was noted and no
 * endpoint knows is looked for on.
 *
 * @returns false when it is not taken, or counts as given back: on its way, or confirmed
 * @throws Refusal not_found
 */
export function putBack(ctx: Context, scope: Scope, accountId: string, key: TransferKey): Promise<boolean> {
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const row = await lockTransfer(tx, scope, key, accountId);
      if (!row) throw refuse('not_found');
      return updateKept(tx, scope, key);
    }),
  );
}
