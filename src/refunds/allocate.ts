/** The part of one payment that must be refunded, in micro units. */
export type Refundable = { usdcMicro: bigint };

/**
 * Divides the amount that a transaction moved to one payer among the payments it is recorded for, in the order of
 * recording. No unit counts twice: each payment after the first is covered in full or not at all, and the remainder
 * belongs to the first.
 *
 * @returns micro units for each; 0n for one that is not covered
 */
export function allocateRefund(movedMicro: bigint, payments: readonly Refundable[]): bigint[] {
  let leftMicro = movedMicro;
  const shares = payments.map(({ usdcMicro }, index) => {
    const micro = usdcMicro <= leftMicro ? usdcMicro : index === 0 ? leftMicro : 0n;
    leftMicro -= micro;
    return micro;
  });
  return shares.map((micro, index) => (index === 0 ? micro + leftMicro : micro));
}
