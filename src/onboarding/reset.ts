import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { updateReset } from './store.ts';

/**
 * Takes a merchant back to the start of onboarding: its wallet is free again, older links die, open requests are voided.
 *
 * @returns false for a merchant that has taken money: its wallet may only be changed by signatures
 */
export async function resetOnboarding(ctx: Context, scope: Scope, accountId: string): Promise<boolean> {
  const outcome = await ctx.db.scoped(scope, (tx) => updateReset(tx, scope, accountId, ctx.clock.now()));
  return outcome === 'reset';
}
