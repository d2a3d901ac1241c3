import type { RelayState } from '../../chain/relay/relay.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { Scope, Sql, Tx } from '../../db/connection.ts';
import { authorizationNonce, readAuthorizationNonce } from '../../requests/authorization-nonce.ts';
import { findReferenced } from '../../requests/references.ts';
import { isArriving } from '../arriving.ts';
import type { Named } from '../rules.ts';
import type { TransferRow } from '../transfers.ts';

/** What identifies an EIP-3009 authorization: a token executes it once. Addresses in lower case. */
export type AuthorizationKey = {
  chainId: number;
  tokenAddress: string;
  /** The wallet that signed it and pays. */
  authorizer: string;
  /** 32 bytes. */
  nonce: Uint8Array;
};

/** A row of `authorizations`, with the state of the call that executes it. */
export type AuthorizationRow = {
  chain_id: string;
  token_address: string;
  authorizer: string;
  nonce: Uint8Array;
  value: string;
  valid_before: Date;
  handed_in_at: Date;
  failures: number;
  relay_id: string | null;
  /** Null where no call was enqueued. */
  relay_state: RelayState | null;
  hash: Hex | null;
  /** Whether the mined transaction succeeded; null before it is known. */
  succeeded: boolean | null;
  /** The time of the newest block of its chain that was read. */
  read_until: Date | null;
};

const isKey = (sql: Sql | Tx, { chainId, tokenAddress, authorizer, nonce }: AuthorizationKey) => sql`
  a.chain_id = ${chainId} and a.token_address = ${tokenAddress} and a.authorizer = ${authorizer}
    and a.nonce = ${Buffer.from(nonce)}`;

/** The request that an authorization pays: the one its nonce names, otherwise the one it was submitted for. */
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

/** For each of these transfers, the request that the authorization it executed was submitted for. */
export async function selectAllBound(
  tx: Tx,
  rows: readonly TransferRow[],
): Promise<Map<TransferRow, { id: string; wallet_address: string }>> {
  if (rows.length === 0) return new Map();
  const wanted = rows.map((row, place) => {
    const { partner_id, test_mode, chain_id, token_address, from_address } = row;
    const nonce = Buffer.from(row.authorization_nonce ?? []).toString('hex');
    return { place, partner_id, test_mode, chain_id, token_address, from_address, nonce };
  });
  const found = await tx<{ place: number; id: string; wallet_address: string }[]>`
    select w.place, r.id, r.wallet_address
    from json_to_recordset(${JSON.stringify(wanted)}::json) as w (place int, partner_id uuid, test_mode boolean,
        chain_id bigint, token_address text, from_address text, nonce text)
      join authorizations a on (a.chain_id, a.token_address, a.authorizer, a.nonce, a.partner_id, a.test_mode)
        = (w.chain_id, w.token_address, w.from_address, decode(w.nonce, 'hex'), w.partner_id, w.test_mode)
      join requests r on (r.partner_id, r.test_mode, r.id) = (a.partner_id, a.test_mode, a.request_id)`;
  return new Map(found.map(({ place, ...request }) => [rows[place] as TransferRow, request]));
}

/**
 * Binds an authorization to the request that it was submitted for. The first request wins, over the whole platform.
 *
 * The caller has checked that the authorizer signed it and that it pays the request's wallet. The caller sends it only
 * after this transaction, because a transfer that was matched before is not matched again.
 *
 * @param terms its value, and until when it is valid
 * @returns false if it belongs to another request, by its nonce or because it was submitted there first
 */
export async function bindAuthorization(
  tx: Tx,
  scope: Scope,
  key: AuthorizationKey,
  requestId: string,
  terms: { valueMicro: bigint; validBefore: Date },
): Promise<boolean> {
  const named = await selectNamed(tx, scope, key.nonce);
  if (named && named.id !== requestId) return false;
  const rows = await tx`
    insert into authorizations (chain_id, token_address, authorizer, nonce, partner_id, test_mode, request_id, value,
      valid_before)
    values (${key.chainId}, ${key.tokenAddress}, ${key.authorizer}, ${Buffer.from(key.nonce)}, ${scope.partnerId},
      ${scope.testMode}, ${requestId}, ${terms.valueMicro}, ${terms.validBefore})
    on conflict do nothing returning request_id`;
  return rows.length > 0 || (await selectBound(tx, scope, key))?.id === requestId;
}

/** Sets the call that executes a bound authorization from now on; the earlier call has failed. */
export async function updateRelayed(
  tx: Tx,
  scope: Scope,
  key: AuthorizationKey,
  relay: { id: string; valueMicro: bigint; validBefore: Date },
): Promise<void> {
  await tx`
    update authorizations a set failures = failures + case when relay_id is null then 0 else 1 end,
      relay_id = ${relay.id}, value = ${relay.valueMicro}, valid_before = ${relay.validBefore}, handed_in_at = now()
    where a.partner_id = ${scope.partnerId} and a.test_mode = ${scope.testMode} and ${isKey(tx, key)}`;
}

/** Whether the transfer of an authorization `a` with its call `r` was already read, and meets a further condition. */
const isRead = (tx: Tx, also = tx``) => tx`
  exists (select from transfers t
    where t.partner_id = a.partner_id and t.test_mode = a.test_mode and t.from_address = a.authorizer
      and t.chain_id = a.chain_id and t.token_address = a.token_address and t.authorization_nonce = a.nonce ${also})`;

/**
 * The wallet may have signed another transfer under the same nonce, which makes the call fail and pays less or somebody
 * else.
 */
const asSigned = (tx: Tx) => tx`
  and t.value = a.value and t.to_address = (select q.wallet_address from requests q
    where (q.partner_id, q.test_mode, q.id) = (a.partner_id, a.test_mode, a.request_id))`;

/** The time of the newest block that was read of the chain of an authorization `a`. */
export const readUntil = (tx: Tx) => tx`(select c.block_time from chain_cursors c where c.chain_id = a.chain_id)`;

const maxOfRequest = 50;

/**
 * The authorizations that were submitted for a request and whose transfers are not matched yet, newest first. Between
 * being read and being matched, a transfer changes no state, so pages would not show it otherwise.
 */
export function selectUnread(tx: Tx, scope: Scope, requestId: string): Promise<AuthorizationRow[]> {
  return tx<AuthorizationRow[]>`
    select a.chain_id, a.token_address, a.authorizer, a.nonce, a.value, a.valid_before, a.handed_in_at, a.failures,
      a.relay_id, r.state as relay_state, r.hash, r.succeeded, ${readUntil(tx)} as read_until
    from authorizations a
      left join relay_transactions r on r.id = a.relay_id
        and (r.partner_id, r.test_mode) = (a.partner_id, a.test_mode)
    where a.partner_id = ${scope.partnerId} and a.test_mode = ${scope.testMode} and a.request_id = ${requestId}
      and not ${isRead(tx, tx`and t.judged_at is not null`)}
    order by a.handed_in_at desc, a.authorizer, a.nonce limit ${maxOfRequest}`;
}

/** The nonces of a wallet's authorizations whose transfers were matched for this request, applied or not. */
export async function selectExecuted(
  tx: Tx,
  scope: Scope,
  reference: Uint8Array,
  wallet: { chainId: number; tokenAddress: string; authorizer: string },
): Promise<Buffer[]> {
  const [first, last] = [authorizationNonce(reference, 0), authorizationNonce(reference, 2 ** 32 - 1)];
  const rows = await tx<{ authorization_nonce: Uint8Array }[]>`
    select authorization_nonce from transfers
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and from_address = ${wallet.authorizer}
      and chain_id = ${wallet.chainId} and token_address = ${wallet.tokenAddress}
      and judged_at is not null and authorization_nonce between ${first} and ${last} limit 1000`;
  return rows.map(({ authorization_nonce }) => Buffer.from(authorization_nonce));
}

/** The outcomes of calls for a wallet's authorizations, over all partners. */
export type WalletRecord = {
  /** How many have failed within a day. */
  failures: number;
  /** How many are under way for other requests. Each fails, and costs a fee, if the wallet's money is gone by then. */
  underWay: number;
};

/**
 * Reads a wallet's record and locks it until the transaction ends, so that authorizations submitted at once are counted
 * too.
 */
export async function lockWallet(tx: Tx, authorizer: string, requestId: string): Promise<WalletRecord> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`authorizations of ${authorizer}`}, 0))`;
  const [row] = await tx<{ failures: number; under_way: number }[]>`
    select
      coalesce(sum(a.failures + case when r.succeeded = false and not ${isRead(tx, asSigned(tx))} then 1 else 0 end), 0)::int
        as failures,
      (count(*) filter (where r.state in ('allotted', 'sent', 'mined') and r.succeeded is distinct from false
        and a.request_id <> ${requestId} and not ${isRead(tx)}))::int as under_way
    from authorizations a
      left join relay_transactions r on r.id = a.relay_id
        and (r.partner_id, r.test_mode) = (a.partner_id, a.test_mode)
    where a.authorizer = ${authorizer} and a.handed_in_at > now() - interval '1 day'`;
  return { failures: row?.failures ?? 0, underWay: row?.under_way ?? 0 };
}

/** Whether a transfer that may pay a request was read and is about to be matched. */
export async function hasArriving(tx: Tx, scope: Scope, requestId: string): Promise<boolean> {
  const rows = await tx`
    select from requests r
    where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${requestId}
      and ${isArriving(tx)}`;
  return rows.length > 0;
}

/** Whether an automatic charge for a request is under way. */
export async function hasCharge(tx: Tx, scope: Scope, requestId: string): Promise<boolean> {
  const rows = await tx`
    select from relay_transactions
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and subject_id = ${requestId}
      and purpose = 'charge' and state in ('allotted', 'sent', 'mined') limit 1`;
  return rows.length > 0;
}
