import type { Scope, Tx } from '../db/connection.ts';

/**
 * Locks a merchant's wallets until the transaction ends. A create holds the wallet before it waits for the merchant, so
 * whoever changes both takes the wallets first.
 */
export async function lockWallets(tx: Tx, { partnerId, testMode }: Scope, accountId: string): Promise<void> {
  await tx`
    select from wallets where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}
    order by address for update`;
}

/** Frees all wallets of a merchant for others, and cancels the change of its wallet that is in progress. */
export async function giveUpWallets(tx: Tx, scope: Scope, accountId: string, now: Date): Promise<void> {
  const { partnerId, testMode } = scope;
  await tx`delete from wallets where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}`;
  await tx`
    update wallet_changes set state = 'cancelled', ended_at = ${now} where partner_id = ${partnerId}
      and test_mode = ${testMode} and account_id = ${accountId} and state in ('started', 'signed')`;
}
