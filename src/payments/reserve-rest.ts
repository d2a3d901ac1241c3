import type { Scope, Tx } from '../db/connection.ts';
import { reserveRestAmount } from '../requests/reserved-rests.ts';
import type { RequestRow } from '../requests/store.ts';
import { restMicro, sumMicro } from './rules.ts';
import { isDoubted } from './store.ts';
import type { TransferRow } from './transfers.ts';

/** The sum of these transfers without the doubted ones: they are settled, or may still be. */
export const undoubtedMicroOf = (counted: readonly TransferRow[]) => sumMicro(counted.filter((row) => !isDoubted(row)));

/**
 * What is left of a request without proof, in micro units, for which an amount must be reserved; null if nothing must.
 *
 * @param counted all transfers that count for it now
 */
export function restToReserve(request: RequestRow, counted: readonly TransferRow[]): bigint | null {
  if (request.proof_status !== 'none') return null;
  return restMicro(BigInt(request.usdc_micro), undoubtedMicroOf(counted));
}

/**
 * Reserves an amount for what is left of a request, so that a transfer of it is recognised. Whoever changes what counts
 * for a request calls this under the request's lock.
 *
 * @param counted all transfers that count for it now
 */
export async function reserveRest(
  tx: Tx,
  scope: Scope,
  request: RequestRow,
  counted: readonly TransferRow[],
): Promise<void> {
  const rest = restToReserve(request, counted);
  if (rest !== null) await reserveRestAmount(tx, scope, request.id, rest);
}
