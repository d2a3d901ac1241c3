import type { Scope, Sql, Tx } from '../../db/connection.ts';
import { readAuthorizationNonce } from '../../requests/authorization-nonce.ts';
import { findReferenced } from '../../requests/proof.ts';
import type { Named } from '../rules.ts';

/** What identifies an EIP-3009 authorization: a token executes it once. Addresses in lower case. */
export type AuthorizationKey = {
  chainId: number;
  tokenAddress: string;
  /** The wallet that signed it, and that pays. */
  authorizer: string;
  /** 32 bytes. */
  nonce: Uint8Array;
};

const isKey = (sql: Sql | Tx, { chainId, tokenAddress, authorizer, nonce }: AuthorizationKey) => sql`
  a.chain_id = ${chainId} and a.token_address = ${tokenAddress} and a.authorizer = ${authorizer}
    and a.nonce = ${Buffer.from(nonce)}`;

/** The request that an authorization pays: the one its nonce names, otherwise the one it was handed in for. */
export async function selectAuthorized(tx: Tx, scope: Scope, key: AuthorizationKey): Promise<Named | null> {
  return (await selectNamed(tx, scope, key.nonce)) ?? (await selectBound(tx, scope, key));
}

async function selectNamed(tx: Tx, scope: Scope, nonce: Uint8Array): Promise<Named | null> {
  const made = readAuthorizationNonce(nonce);
  const row = made && (await findReferenced(tx, scope, made.reference));
  return row && { id: row.id, walletAddress: row.wallet_address };
}

async function selectBound(tx: Tx, scope: Scope, key: AuthorizationKey): Promise<Named | null> {
  const [row] = await tx<{ id: string; wallet_address: string }[]>`
    select r.id, r.wallet_address from authorizations a
      join requests r on (r.partner_id, r.test_mode, r.id) = (a.partner_id, a.test_mode, a.request_id)
    where a.partner_id = ${scope.partnerId} and a.test_mode = ${scope.testMode} and ${isKey(tx, key)}`;
  return row ? { id: row.id, walletAddress: row.wallet_address } : null;
}

/**
 * Binds an authorization to the request that it was handed in for. The first request wins, over the whole platform.
 *
 * The caller has checked that the authorizer signed it and that it pays the request's wallet, and sends it only after
 * this transaction: a transfer that is matched before is not matched again.
 *
 * @returns false where it belongs to another request, by its nonce or because it was handed in there first
 */
export async function bindAuthorization(
  tx: Tx,
  scope: Scope,
  key: AuthorizationKey,
  requestId: string,
): Promise<boolean> {
  const named = await selectNamed(tx, scope, key.nonce);
  if (named && named.id !== requestId) return false;
  const rows = await tx`
    insert into authorizations (chain_id, token_address, authorizer, nonce, partner_id, test_mode, request_id)
    values (${key.chainId}, ${key.tokenAddress}, ${key.authorizer}, ${Buffer.from(key.nonce)}, ${scope.partnerId},
      ${scope.testMode}, ${requestId})
    on conflict do nothing returning request_id`;
  return rows.length > 0 || (await selectBound(tx, scope, key))?.id === requestId;
}
