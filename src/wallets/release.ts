import type { Actor } from '../audit/actions.ts';
import { audit, theService } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { itemsInBatches } from '../db/in-batches.ts';
import { dayMs } from '../lib/durations.ts';
import { deleteUnsignedWallet, selectUnsignedWallets, type UnsignedWallet } from './registry-store.ts';

/** A wallet that was claimed at creation but never signed for is released after this time. */
const staleMs = 30 * dayMs;

const batchSize = 500;

/**
 * Operators: frees a wallet that was claimed but never signed for.
 *
 * @returns whose it was; null if the address is not claimed, or was signed for
 */
export function releaseWallet(ctx: Context, actor: Actor, address: string): Promise<UnsignedWallet | null> {
  return release(ctx, actor, address.toLowerCase(), null);
}

function release(ctx: Context, actor: Actor, address: string, claimedBefore: Date | null) {
  return ctx.db.transaction(async (tx) => {
    const freed = await deleteUnsignedWallet(tx, address, claimedBefore);
    if (freed) {
      await audit(ctx, tx, actor, {
        ...scopeOfRow(freed),
        action: 'wallet.released',
        object: { kind: 'wallet', id: freed.address },
        details: { merchant: freed.account_id },
      });
    }
    return freed;
  });
}

/**
 * Loop: frees wallets that were claimed more than 30 days ago but never signed for, in batches, so that those of one
 * partner, however many, keep nobody else's for another run.
 *
 * @returns how many
 */
export function releaseStaleWallets(ctx: Context, signal: AbortSignal): Promise<number> {
  const claimedBefore = new Date(ctx.clock.now().getTime() - staleMs);
  return itemsInBatches(signal, {
    read: (failed) => selectUnsignedWallets(ctx.db, { claimedBefore, except: [...failed], limit: batchSize }),
    keyOf: ({ address }) => address,
    // The wallet may have been freed and claimed again since the lookup.
    handle: async ({ address }) => ((await release(ctx, theService, address, claimedBefore)) ? 1 : 0),
    logFailure: (error, { address }) =>
      ctx.log.error({ err: error, address }, 'a stale wallet could not be released; it will be retried'),
  });
}
