import type { Scope, Tx } from '../db/connection.ts';

/** Which of some addresses are wallets of the scope's merchants, or of one of them; at most 20. */
export function selectOwnWallets(
  tx: Tx,
  scope: Scope,
  addresses: string[],
  accountId: string | null,
): Promise<{ address: string; account_id: string }[]> {
  return tx`
    select address, account_id from wallets
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and address = any(${addresses}::text[])
      ${accountId ? tx`and account_id = ${accountId}` : tx``}
    order by address limit 20`;
}
