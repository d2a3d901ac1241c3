import type { Tx } from '../db/connection.ts';

/** The request up to which all were visited, in the order of their verification. */
export type SweptTo = { verified_at: Date; request_id: string };

/** Locked until the transaction ends; null when another node holds it. */
export async function lockSweptTo(tx: Tx): Promise<SweptTo | null> {
  const [row] = await tx<SweptTo[]>`select verified_at, request_id from receipt_sweep for update skip locked`;
  return row ?? null;
}

/** Stores up to where verified requests were visited. */
export async function updateSweptTo(tx: Tx, to: SweptTo): Promise<void> {
  await tx`update receipt_sweep set verified_at = ${to.verified_at}, request_id = ${to.request_id}`;
}

/** A verified request whose customer gave an address or a phone number. `owed`: no receipt of it was stored. */
export type SweptRequest = SweptTo & {
  partner_id: string;
  test_mode: boolean;
  customer_email: string | null;
  customer_phone: string | null;
  owed: boolean;
};

/** The loop's lookup over all partners: those verified after one request and before a time, in that order. */
export function selectVerified(tx: Tx, after: SweptTo, before: Date, limit: number): Promise<SweptRequest[]> {
  return tx<SweptRequest[]>`
    select r.partner_id, r.test_mode, r.id as request_id, r.proof_verified_at as verified_at, r.customer_email,
      r.customer_phone, not exists (
        select from receipts e
        where (e.partner_id, e.test_mode, e.request_id) = (r.partner_id, r.test_mode, r.id)) as owed
    from requests r
    where r.proof_status = 'verified' and (r.customer_email is not null or r.customer_phone is not null)
      and (r.proof_verified_at, r.id) > (${after.verified_at}, ${after.request_id}) and r.proof_verified_at < ${before}
    order by r.proof_verified_at, r.id limit ${limit}`;
}
