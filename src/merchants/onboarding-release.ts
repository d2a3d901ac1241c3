import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { deleteUnsignedWallets, updateReset } from './onboarding-store.ts';

/** A wallet claimed at create and never signed for is released after this. */
const staleMs = 30 * 24 * 3_600_000;

/**
 * Takes a merchant back to the start of onboarding: its wallet is free again, older links die, open requests are voided.
 *
 * @returns false for a merchant that has taken money: its wallet may only be changed by signatures
 */
export async function resetOnboarding(ctx: Context, scope: Scope, accountId: string): Promise<boolean> {
  const outcome = await ctx.db.scoped(scope, (tx) => updateReset(tx, scope, accountId, ctx.clock.now()));
  return outcome === 'reset';
}

/**
 * Operators: frees a wallet that was claimed and never signed for.
 *
 * @returns false when the address is not claimed, or was signed for
 */
export async function releaseWallet(ctx: Context, address: string): Promise<boolean> {
  return (await deleteUnsignedWallets(ctx.db, { address: address.toLowerCase() })).length > 0;
}

/** Loop: frees the wallets that were claimed more than 30 days ago and never signed for. Returns how many. */
export async function releaseStaleWallets(ctx: Context): Promise<number> {
  const claimedBefore = new Date(ctx.clock.now().getTime() - staleMs);
  return (await deleteUnsignedWallets(ctx.db, { claimedBefore })).length;
}
