import { isMint, isRejected, type Reason } from '../payments/rules.ts';

/** Whether a transfer has a sender to whom it can go back: one that was minted, as bridges do, came from nobody. */
export const hasSender = (fromAddress: string): boolean => !isMint({ from: fromAddress });

/**
 * Why a transfer can never be refunded, whatever happens to it; null if it can.
 * `no_payment`: it is of an unknown token, or of the wallet to itself. `no_sender`: nobody sent it.
 */
export function refundObstacle(row: {
  from_address: string;
  to_address: string;
  reason: Reason | null;
}): 'no_payment' | 'no_sender' | null {
  if (isRejected(row.reason) || row.from_address === row.to_address) return 'no_payment';
  return hasSender(row.from_address) ? null : 'no_sender';
}
