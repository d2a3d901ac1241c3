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

/** Identifies a request: its scope and its id. */
export type RequestKey = Pick<RequestRow, 'partner_id' | 'test_mode' | 'id'>;

/**
 * Locks those requests that nobody else has locked until the transaction ends, and returns their rows. It never waits.
 * The transaction may span scopes.
 */
export function lockFree(tx: Tx, keys: readonly RequestKey[]): Promise<RequestRow[]> {
  const wanted = keys.map(({ partner_id, test_mode, id }) => ({ partner_id, test_mode, id }));
  return tx<RequestRow[]>`
    select r.* from json_to_recordset(${JSON.stringify(wanted)}::json) as w (partner_id uuid, test_mode boolean, id uuid)
      join requests r on (r.partner_id, r.test_mode, r.id) = (w.partner_id, w.test_mode, w.id)
    for update of r skip locked`;
}

/** A reference, in lower-case hex, with the scope that it was read for. */
export type ScopedReference = { partner_id: string; test_mode: boolean; reference: string };
export type ReferencedRow = ScopedReference & { id: string; wallet_address: string };

/** The requests that references name, in any state. */
export async function findAllReferenced(tx: Tx, references: readonly ScopedReference[]): Promise<ReferencedRow[]> {
  if (references.length === 0) return [];
  const wanted = references.map(({ partner_id, test_mode, reference }) => ({ partner_id, test_mode, reference }));
  return tx<ReferencedRow[]>`
    select r.partner_id, r.test_mode, w.reference, r.id, r.wallet_address
    from json_to_recordset(${JSON.stringify(wanted)}::json) as w (partner_id uuid, test_mode boolean, reference text)
      join requests r on (r.partner_id, r.test_mode, r.reference)
        = (w.partner_id, w.test_mode, decode(w.reference, 'hex'))`;
}

/** The request that a reference names, in any state. */
export async function findReferenced(tx: Tx, scope: Scope, reference: Uint8Array): Promise<ReferencedRow | null> {
  const hex = Buffer.from(reference).toString('hex');
  const { partnerId: partner_id, testMode: test_mode } = scope;
  const [row] = await findAllReferenced(tx, [{ partner_id, test_mode, reference: hex }]);
  return row ?? null;
}

/** The amount that a wallet was paid, and the range in which amounts are near it. */
export type PaidAmount = {
  partner_id: string;
  test_mode: boolean;
  wallet_address: string;
  /** The chain for which `start_block` is returned. */
  chain_id: number;
  paid_micro: string;
  /** Null while it is not mined: then nothing near is returned. */
  paid_at: Date | null;
  around_micro: string;
};

export type ReservationRow = {
  /** The index of the paid amount among those asked for. */
  place: number;
  request_id: string;
  usdc_micro: string;
  reserved_at: Date;
  reserved_until: Date;
  /** The newest known block when it was reserved; null if none was known, or if that block is gone. */
  start_block: string | null;
};

/** No request reserves this many, so at least one of another request is among them. */
const maxNear = 64;

/**
 * The amounts reserved for requests, and for what is left of them: the one that was paid, and some of those near it
 * that were reserved when it was mined. A wallet can have ten thousand of one price: each payment would read them all.
 */
export async function findReservations(tx: Tx, paid: readonly PaidAmount[]): Promise<ReservationRow[]> {
  if (paid.length === 0) return [];
  return tx<ReservationRow[]>`
    select w.place, r.id as request_id, a.usdc_micro, a.reserved_at, a.reserved_until, b.number as start_block
    from json_to_recordset(${JSON.stringify(paid.map((one, place) => ({ place, ...one })))}::json) as w (place int,
        partner_id uuid, test_mode boolean, wallet_address text, chain_id bigint, paid_micro numeric,
        paid_at timestamptz, around_micro numeric)
      cross join lateral (
        select * from amount_reservations where wallet_address = w.wallet_address and usdc_micro = w.paid_micro
          and partner_id = w.partner_id and test_mode = w.test_mode
        union all (
          select * from amount_reservations where wallet_address = w.wallet_address
            and usdc_micro between w.paid_micro - w.around_micro and w.paid_micro + w.around_micro
            and usdc_micro <> w.paid_micro
            and partner_id = w.partner_id and test_mode = w.test_mode
            and date_trunc('second', reserved_at) <= w.paid_at and reserved_until >= w.paid_at
          limit ${maxNear})) a
      left join reserved_rests s on (s.wallet_address, s.usdc_micro) = (a.wallet_address, a.usdc_micro)
      join requests r on (r.partner_id, r.test_mode, r.id)
        = (a.partner_id, a.test_mode, coalesce(a.request_id, s.request_id))
      cross join lateral (select coalesce(s.start_blocks, r.start_blocks) as known) start
      left join chain_blocks b on b.chain_id = w.chain_id
        and b.number = (start.known ->> w.chain_id::text)::bigint
        and b.hash = start.known #>> array['heads', w.chain_id::text, 'hash']`;
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
      update amount_reservations a set reserved_until = v.proof_verified_at + interval '24 hours' from verified v
      where (a.partner_id, a.test_mode, a.request_id) = (v.partner_id, v.test_mode, v.id)
      returning a.request_id
    )
    select * from verified`;
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
