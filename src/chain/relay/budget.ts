import type { RelayPurpose } from './store.ts';

/**
 * The share of a partner's daily budget, or of its places in the queue, that calls for a purpose may use. Strangers
 * submit authorizations, so these may use half; the rest is kept for charges and revocations. Charges leave a tenth,
 * so that one merchant's charges do not keep customers of others from revoking.
 */
export function shareOf(purpose: RelayPurpose, whole: bigint): bigint {
  if (purpose === 'revoke') return whole;
  return purpose === 'charge' ? whole - whole / 10n : whole / 2n;
}
