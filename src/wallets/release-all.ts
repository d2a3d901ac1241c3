import type { Scope, Tx } from '../db/connection.ts';
import { lockWalletOwner } from './store.ts';

/**
 * Locks a merchant's wallets until the transaction ends. First the merchant, as a signature does, so that no wallet is
 * added meanwhile. A create holds a wallet before it needs the merchant, and this lock of the merchant does not delay
 * it: whoever needs a stronger one takes it after the wallets.
 */
export async function lockWallets(tx: Tx, scope: Scope, accountId: string): Promise<void> {
  await lockWalletOwner(tx, scope, accountId);
  const { partnerId, testMode } = scope;
  await tx`
    select from wallets where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}
    order by address for update`;
}

/** Frees all wallets of a merchant for others, and cancels the change of its wallet that is in progress. */
export async function releaseWallets(tx: Tx, scope: Scope, accountId: string, now: Date): Promise<void> {
  const { partnerId, testMode } = scope;
  await tx`delete from wallets where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}`;
  await tx`
    update wallet_changes set state = 'cancelled', ended_at = ${now} where partner_id = ${partnerId}
      and test_mode = ${testMode} and account_id = ${accountId} and state in ('started', 'signed')`;
}
