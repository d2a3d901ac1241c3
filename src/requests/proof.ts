import type { Scope, Tx } from '../db/connection.ts';
import { seenStatus } from './expiry.ts';
import { reservedAfterEndMs } from './reservations.ts';
import type { RequestRow } from './store.ts';

/** The stored row, locked until the transaction ends. Whoever changes its proof or its transfers locks it first. */
export async function lockForProof(tx: Tx, scope: Scope, id: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    select * from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} for update`;
  return row ?? null;
}

/** Identifies a request: its scope and its id. */
export type RequestKey = Pick<RequestRow, 'partner_id' | 'test_mode' | 'id'>;

/**
 * Locks the requests that nobody else has locked, until the transaction ends, and returns their rows. It never waits.
 * The transaction may span scopes.
 */
export function lockFree(tx: Tx, keys: readonly RequestKey[]): Promise<RequestRow[]> {
  const wanted = keys.map(({ partner_id, test_mode, id }) => ({ partner_id, test_mode, id }));
  return tx<RequestRow[]>`
    select r.* from json_to_recordset(${JSON.stringify(wanted)}::json) as w (partner_id uuid, test_mode boolean, id uuid)
      join requests r on (r.partner_id, r.test_mode, r.id) = (w.partner_id, w.test_mode, w.id)
    for update of r skip locked`;
}

/**
 * From `none` to `attached`, with the CAIP-19 name of the asset paid with. An expiry that readers have already seen
 * stays.
 *
 * @returns how many were attached, because their state allowed it
 */
export async function attachProofs(tx: Tx, paid: readonly (RequestKey & { asset_id: string })[]): Promise<number> {
  if (paid.length === 0) return 0;
  const { count } = await tx`
    update requests r set proof_status = 'attached', proof_note = null, asset_id = p.asset_id, status = ${seenStatus(tx)}
    from json_to_recordset(${JSON.stringify(paid)}::json)
      as p (partner_id uuid, test_mode boolean, id uuid, asset_id text)
    where (r.partner_id, r.test_mode, r.id) = (p.partner_id, p.test_mode, p.id)
      and r.proof_status = 'none' and r.status <> 'voided'`;
  return count;
}

/** From `attached` back to `none`, with the reason for the pay page; null when it was not attached. */
export async function detachProof(tx: Tx, scope: Scope, id: string, note: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    update requests set proof_status = 'none', proof_note = ${note}, asset_id = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} and proof_status = 'attached'
    returning *`;
  return row ?? null;
}

/** The proof of a payment; `asset_id` is a CAIP-19 name. */
export type Proof = RequestKey & { tx_hash: string; payer_address: string; asset_id: string };

/** The columns of a verified request that its event and receipts show. */
export type VerifiedRow = Pick<
  RequestRow,
  | keyof RequestKey
  | 'account_id'
  | 'tx_hash'
  | 'payer_address'
  | 'metadata'
  | 'proof_verified_at'
  | 'customer_email'
  | 'customer_phone'
>;

/**
 * Sets requests to `verified`, permanently, each at the database's time, except those that already are or are voided.
 * The amount stays reserved for another day, so that a second payment is recognised.
 */
export function verifyProofs(tx: Tx, proofs: readonly Proof[]): Promise<VerifiedRow[]> {
  return tx<VerifiedRow[]>`
    with verified as (
      update requests r set proof_status = 'verified', proof_note = null, proof_verified_at = real_time(),
        tx_hash = p.tx_hash, payer_address = p.payer_address, asset_id = p.asset_id, status = ${seenStatus(tx)}
      from json_to_recordset(${JSON.stringify(proofs)}::json) as p (partner_id uuid, test_mode boolean, id uuid,
        tx_hash text, payer_address text, asset_id text)
      where (r.partner_id, r.test_mode, r.id) = (p.partner_id, p.test_mode, p.id)
        and r.proof_status in ('none', 'attached') and r.status <> 'voided'
      returning r.partner_id, r.test_mode, r.id, r.account_id, r.tx_hash, r.payer_address, r.metadata,
        r.proof_verified_at, r.customer_email, r.customer_phone
    ), kept as (
      update amount_reservations a
      set reserved_until = v.proof_verified_at + ${reservedAfterEndMs} * interval '1 ms' from verified v
      where (a.partner_id, a.test_mode, a.request_id) = (v.partner_id, v.test_mode, v.id)
      returning a.request_id
    )
    select * from verified`;
}
