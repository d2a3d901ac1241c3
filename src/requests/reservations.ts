import type { Database, Tx } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';

/**
 * How long an amount stays reserved after its request was paid, cancelled or expired. The database's functions that
 * reserve one (`create_request`, `store_as_assumed`, `store_together`, `reserve_rest`) add the same to its expiry.
 */
export const reservedAfterEndMs = dayMs;

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
 * that were reserved when it was mined. A wallet can have ten thousand reservations near one price, and each payment
 * would read them all.
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
