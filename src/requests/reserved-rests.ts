import type { Scope, Tx } from '../db/connection.ts';
import { headFreshMs } from './store.ts';

/** What is left of a request after partial payments, and the amount that is reserved for it. */
export type RestRow = { rest_micro: string; usdc_micro: string };

/**
 * Reserves an amount for the rest of a request, whose row is locked: exactly the rest or, where that is taken, up to
 * 9,999 micro units more. It counts from now on, for transfers in blocks after the newest known ones, and is freed with
 * the request's own amount. What was reserved for an earlier rest stays: its payment may be under way. Where no amount
 * is free, nothing is reserved: then a transfer of the rest is not recognised by its amount.
 */
export async function reserveRestAmount(tx: Tx, scope: Scope, requestId: string, restMicro: bigint): Promise<void> {
  await tx`
    select reserve_rest(${scope.partnerId}, ${scope.testMode}, ${requestId}, ${restMicro.toString()}::numeric,
      ${headFreshMs} * interval '1 ms')`;
}

/** The rests of a request for which amounts are reserved. */
export function selectRests(tx: Tx, scope: Scope, requestId: string): Promise<RestRow[]> {
  return tx<RestRow[]>`
    select rest_micro::text, usdc_micro::text from reserved_rests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId}`;
}
