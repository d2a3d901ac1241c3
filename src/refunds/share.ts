/** What one payment is to get back; micro units. */
export type SharedReturn = { usdcMicro: bigint };

/**
 * Divides what a transaction moved to one payer among the payments that are noted with it, in the order of their notes.
 * No unit counts twice: each payment after the first is covered in full or not at all, and what nobody needs is the first's.
 *
 * @returns micro units for each; 0n for what is not covered
 */
export function shareReturn(movedMicro: bigint, noted: readonly SharedReturn[]): bigint[] {
  let leftMicro = movedMicro;
  const shares = noted.map(({ usdcMicro }, index) => {
    const micro = usdcMicro <= leftMicro ? usdcMicro : index === 0 ? leftMicro : 0n;
    leftMicro -= micro;
    return micro;
  });
  return shares.map((micro, index) => (index === 0 ? micro + leftMicro : micro));
}
