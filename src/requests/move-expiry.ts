import type { Scope, Tx } from '../db/connection.ts';
import { reservedAfterEndMs } from './reservations.ts';
import type { RequestRow } from './store.ts';

/**
 * Sets a request's expiry to this long ago; null when it waits for nothing. For rehearsals in the sandbox.
 *
 * @param minutesAgo 0: now, and only if it has not expired yet
 */
export async function moveExpiry(tx: Tx, scope: Scope, id: string, minutesAgo: number): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    with expired as (
      update requests set status = 'expired', expires_at = now() - ${`${minutesAgo} minutes`}::interval
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id}
        and proof_status = 'none' and status <> 'voided' and (status <> 'expired' or ${minutesAgo > 0})
      returning *
    ), kept as (
      update amount_reservations set reserved_until = now() + ${reservedAfterEndMs} * interval '1 ms'
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
        and request_id in (select id from expired)
      returning request_id
    )
    select * from expired`;
  return row ?? null;
}
