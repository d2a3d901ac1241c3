import type { Scope, Tx } from '../db/connection.ts';

/** Frees all wallets of a merchant for others, and cancels the change of its wallet that is in progress. */
export async function giveUpWallets(tx: Tx, scope: Scope, accountId: string, now: Date): Promise<void> {
  const { partnerId, testMode } = scope;
  await tx`delete from wallets where partner_id = ${partnerId} and test_mode = ${testMode} and account_id = ${accountId}`;
  await tx`
    update wallet_changes set state = 'cancelled', ended_at = ${now} where partner_id = ${partnerId}
      and test_mode = ${testMode} and account_id = ${accountId} and state in ('started', 'signed')`;
}
