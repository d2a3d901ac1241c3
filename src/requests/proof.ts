import type { Database, Scope, Tx } from '../db/connection.ts';
import { seenStatus } from './expiry.ts';
import type { RequestRow } from './store.ts';

/** The stored row, locked until the transaction ends. Whoever changes its proof or its transfers locks it first. */
export async function lockForProof(tx: Tx, scope: Scope, id: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    select * from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} for update`;
  return row ?? null;
}

/** The request that a reference names, in any state. */
export async function findReferenced(
  tx: Tx,
  scope: Scope,
  reference: Uint8Array,
): Promise<{ id: string; wallet_address: string } | null> {
  const [row] = await tx<{ id: string; wallet_address: string }[]>`
    select id, wallet_address from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and reference = ${Buffer.from(reference)}`;
  return row ?? null;
}

export type ReservationRow = {
  request_id: string;
  usdc_micro: string;
  reserved_at: Date;
  reserved_until: Date;
  /** The newest known block when it was reserved; null where none was known, or where that block is gone since. */
  start_block: string | null;
};

/**
 * The amounts reserved for a wallet within a range, both ends included: of requests, and of what is left of them.
 *
 * @param range `chainId`: the chain for which `start_block` is returned
 */
export function findReservations(
  tx: Tx,
  scope: Scope,
  range: { walletAddress: string; chainId: number; fromMicro: bigint; toMicro: bigint },
): Promise<ReservationRow[]> {
  return tx<ReservationRow[]>`
    select r.id as request_id, a.usdc_micro, a.reserved_at, a.reserved_until, b.number as start_block
    from amount_reservations a
      left join reserved_rests s on (s.wallet_address, s.usdc_micro) = (a.wallet_address, a.usdc_micro)
      join requests r on (r.partner_id, r.test_mode, r.id)
        = (a.partner_id, a.test_mode, coalesce(a.request_id, s.request_id))
      cross join lateral (select coalesce(s.start_blocks, r.start_blocks) as known) start
      left join chain_blocks b on b.chain_id = ${range.chainId}
        and b.number = (start.known ->> ${String(range.chainId)}::text)::bigint
        and b.hash = start.known #>> array['heads', ${String(range.chainId)}, 'hash']
    where a.partner_id = ${scope.partnerId} and a.test_mode = ${scope.testMode}
      and a.wallet_address = ${range.walletAddress}
      and a.usdc_micro between ${range.fromMicro.toString()}::numeric and ${range.toMicro.toString()}::numeric`;
}

/**
 * From `none` to `attached`; null when the state does not allow it. An expiry that readers have already seen stays.
 *
 * @param assetId CAIP-19 name of the asset paid with
 */
export async function attachProof(tx: Tx, scope: Scope, id: string, assetId: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    update requests r set proof_status = 'attached', proof_note = null, asset_id = ${assetId}, status = ${seenStatus(tx)}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id}
      and proof_status = 'none' and status <> 'voided'
    returning *`;
  return row ?? null;
}

/** From `attached` back to `none`, with the reason for the pay page; null when it was not attached. */
export async function detachProof(tx: Tx, scope: Scope, id: string, note: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    update requests set proof_status = 'none', proof_note = ${note}, asset_id = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} and proof_status = 'attached'
    returning *`;
  return row ?? null;
}

/** What proves a payment. */
export type Proof = { txHash: string; payerAddress: string; assetId: string };

/**
 * To `verified`, once and for good, at the database's time; null when it already is, or is voided. The amount stays
 * reserved for another day, so that a second payment is recognised.
 */
export async function verifyProof(tx: Tx, scope: Scope, id: string, proof: Proof): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    with verified as (
      update requests r set proof_status = 'verified', proof_note = null, proof_verified_at = real_time(),
        tx_hash = ${proof.txHash}, payer_address = ${proof.payerAddress}, asset_id = ${proof.assetId},
        status = ${seenStatus(tx)}
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id}
        and proof_status in ('none', 'attached') and status <> 'voided'
      returning *
    ), kept as (
      update amount_reservations a set reserved_until = v.proof_verified_at + interval '24 hours' from verified v
      where a.partner_id = ${scope.partnerId} and a.test_mode = ${scope.testMode} and a.request_id = v.id
      returning a.request_id
    )
    select * from verified`;
  return row ?? null;
}

/**
 * Frees amounts whose time has passed, over all scopes of a mode. An attached request keeps its own.
 *
 * @param readUpTo every chain of the mode was read up to this block time, so an earlier payment would have been seen
 */
export async function releaseReserved(
  db: Database,
  limits: { testMode: boolean; readUpTo: Date; limit: number },
): Promise<number> {
  const rows = await db.sql`
    delete from amount_reservations where (wallet_address, usdc_micro) in (
      select a.wallet_address, a.usdc_micro from amount_reservations a
        left join reserved_rests s on (s.wallet_address, s.usdc_micro) = (a.wallet_address, a.usdc_micro)
        join requests r on (r.partner_id, r.test_mode, r.id)
          = (a.partner_id, a.test_mode, coalesce(a.request_id, s.request_id))
      where a.test_mode = ${limits.testMode} and a.reserved_until < now() and a.reserved_until < ${limits.readUpTo}
        and r.proof_status <> 'attached'
      order by a.reserved_until limit ${limits.limit} for update of a skip locked)
    returning usdc_micro`;
  return rows.length;
}

/**
 * Detaches the partial payments of a request that this transaction voids; they become unmatched payments again. The
 * watcher locks transfers before the request, so this must not wait, or the two could deadlock.
 *
 * @throws PostgresError 55P03 while another transaction holds one of them: try again later
 */
export async function detachPartialPayments(tx: Tx, scope: Scope, id: string): Promise<void> {
  await tx`
    update transfers set request_id = null, rule = null, counts = false, reason = 'voided', candidate_request_id = ${id}
    where (chain_id, tx_hash, ordinal) in (
      select chain_id, tx_hash, ordinal from transfers
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${id}
      for update nowait)`;
}

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
      update amount_reservations set reserved_until = now() + interval '24 hours'
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
        and request_id in (select id from expired)
      returning request_id
    )
    select * from expired`;
  return row ?? null;
}
