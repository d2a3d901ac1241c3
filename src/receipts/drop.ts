import type { Scope, Sql, Tx } from '../db/connection.ts';

/** Deletes waiting receipts of customers whose data is erased; returns how many. */
export async function dropReceipts(tx: Tx | Sql, scope: Scope, requestIds: string[]): Promise<number> {
  const { count } = await tx`
    update receipts set done_at = now(), error = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = any(${requestIds}::uuid[])
      and done_at is null`;
  return count;
}
