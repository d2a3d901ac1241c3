import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { lockForReset, undoOnboarding } from '../merchants/onboarding-state.ts';
import { hasReceivedMoney, isKnownToHaveMoney, lockUnpaidOf, voidUnpaidOf } from '../requests/merchant-reset.ts';
import { lockWallets, releaseWallets } from '../wallets/release-all.ts';
import { deleteCode, deleteProgress } from './store.ts';

/**
 * Returns a merchant to the start of onboarding: its wallet is free again, older links expire, and what was handed in
 * with them is discarded. Its open requests are voided, because they would still pay the old wallet.
 *
 * @returns false for a merchant that has received money, or is about to: its wallet may only be changed by signatures
 * @throws Refusal unavailable while other transactions hold what it changes
 */
export function resetOnboarding(ctx: Context, actor: Actor, scope: Scope, accountId: string): Promise<boolean> {
  const now = ctx.clock.now();
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      await lockWallets(tx, scope, accountId);
      await lockForReset(tx, scope, accountId);
      await lockUnpaidOf(tx, scope, accountId);
      if (await hasReceivedMoney(tx, scope, accountId)) return false;
      await voidUnpaidOf(tx, scope, accountId, now);
      await releaseWallets(tx, scope, accountId, now);
      await undoOnboarding(tx, scope, accountId);
      await deleteCode(tx, scope, accountId);
      await deleteProgress(tx, scope, accountId);
      await audit(ctx, tx, actor, {
        ...scope,
        action: 'merchant.reset',
        object: { kind: 'merchant', id: accountId },
        details: {},
      });
      return true;
    }),
  );
}

/** Whether a page offers the reset. Where it says yes, `resetOnboarding` may still refuse. */
export const offersReset = ({ db }: Pick<Context, 'db'>, scope: Scope, accountId: string): Promise<boolean> =>
  db.scoped(scope, async (tx) => !(await isKnownToHaveMoney(tx, scope, accountId)));
