import { audit, theService } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { nestedIn } from '../db/nested.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { queueWalletNotice } from './notices.ts';
import { claimSignedWallet, type UnsignedWallet } from './registry-store.ts';

/** Claims a wallet that has signed for a merchant, platform-wide. Throws MerchantRefusal wallet_taken. */
export type ClaimWallet = (accountId: string, address: string, now: Date) => Promise<void>;

/**
 * Runs a transaction of a scope that claims a wallet by its signature. A merchant of another partner or mode loses the
 * wallet if it had only claimed it, and its partner is notified with the same commit.
 */
export function claimingWallet<T>(
  ctx: Context,
  scope: Scope,
  work: (tx: Tx, claim: ClaimWallet) => Promise<T>,
): Promise<T> {
  // Two partners who displace each other's claims lock their audit logs in opposite order, which can deadlock.
  return retryOnConflict(() =>
    ctx.db.transaction(async (outer) => {
      const inner = { ...ctx, db: nestedIn(outer, ctx.db) };
      const displaced: UnsignedWallet[] = [];
      const result = await inner.db.scoped(scope, (tx) =>
        work(tx, async (accountId, address, now) => {
          const claimed = await claimSignedWallet(tx, scope, accountId, address, now);
          if (!claimed) throw new MerchantRefusal('wallet_taken');
          if (claimed.displaced) displaced.push(claimed.displaced);
        }),
      );
      for (const claim of displaced) await noticeDisplaced(inner, claim);
      return result;
    }),
  );
}

/** The notice does not say who signed, because that may be another partner's merchant. */
async function noticeDisplaced(inner: Context, claim: UnsignedWallet): Promise<void> {
  const scope = scopeOfRow(claim);
  await inner.db.scoped(scope, async (tx) => {
    await queueWalletNotice(inner, tx, scope, claim.account_id, { kind: 'displaced', oldWallet: claim.address });
    await audit(inner, tx, theService, {
      ...scope,
      action: 'wallet.displaced',
      object: { kind: 'wallet', id: claim.address },
      details: { merchant: claim.account_id },
    });
  });
}
