import type { RelayState } from '../../chain/relay/relay.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { type AuthorizationKey, readUntil } from './store.ts';

/** An authorization that was submitted, with the call that executes it and its transfer, if one was read. */
export type SubmittedAuthorizationRow = {
  valid_before: Date;
  value: string;
  relay_state: RelayState | null;
  hash: Hex | null;
  succeeded: boolean | null;
  read_until: Date | null;
  transfer_hash: Hex | null;
};

/** What was submitted for a request under this key; null for nothing. */
export async function selectSubmittedAuthorization(
  tx: Tx,
  scope: Scope,
  requestId: string,
  { chainId, tokenAddress, authorizer, nonce }: AuthorizationKey,
): Promise<SubmittedAuthorizationRow | null> {
  const [row] = await tx<SubmittedAuthorizationRow[]>`
    select a.valid_before, a.value, r.state as relay_state, r.hash, r.succeeded,
      ${readUntil(tx)} as read_until,
      (select t.tx_hash from transfers t
        where t.partner_id = a.partner_id and t.test_mode = a.test_mode and t.from_address = a.authorizer
          and t.chain_id = a.chain_id and t.token_address = a.token_address and t.authorization_nonce = a.nonce
          -- A wallet can sign something else under the same nonce, and have that executed.
          and t.value = a.value and t.to_address = q.wallet_address
        limit 1) as transfer_hash
    from authorizations a
      join requests q on (q.partner_id, q.test_mode, q.id) = (a.partner_id, a.test_mode, a.request_id)
      left join relay_transactions r on r.id = a.relay_id
        and (r.partner_id, r.test_mode) = (a.partner_id, a.test_mode)
    where a.partner_id = ${scope.partnerId} and a.test_mode = ${scope.testMode} and a.request_id = ${requestId}
      and a.chain_id = ${chainId} and a.token_address = ${tokenAddress} and a.authorizer = ${authorizer}
      and a.nonce = ${Buffer.from(nonce)}`;
  return row ?? null;
}
