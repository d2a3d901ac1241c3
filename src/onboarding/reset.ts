import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { lockForReset, undoOnboarding } from '../merchants/onboarding-state.ts';
import { hasReceivedMoney, voidUnpaidOf } from '../requests/merchant-reset.ts';
import { giveUpWallets } from '../wallets/give-up.ts';

/**
 * Returns a merchant to the start of onboarding: its wallet is free again, and older links expire. Its open requests
 * are voided, because they would still pay the old wallet.
 *
 * @returns false for a merchant that has received money: its wallet may only be changed by signatures
 */
export function resetOnboarding(ctx: Context, actor: Actor, scope: Scope, accountId: string): Promise<boolean> {
  const now = ctx.clock.now();
  return ctx.db.scoped(scope, async (tx) => {
    await lockForReset(tx, scope, accountId);
    if (await hasReceivedMoney(tx, scope, accountId)) return false;
    await voidUnpaidOf(tx, scope, accountId, now);
    await giveUpWallets(tx, scope, accountId, now);
    await undoOnboarding(tx, scope, accountId);
    await audit(ctx, tx, actor, {
      ...scope,
      action: 'merchant.reset',
      object: { kind: 'merchant', id: accountId },
      details: {},
    });
    return true;
  });
}
