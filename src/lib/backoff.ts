/** A wait spread by ± the given share, so that many clients do not come back at the same moment. */
export function jitter(ms: number, share: number, random: () => number = Math.random): number {
  return Math.round(ms * (1 - share + 2 * share * random()));
}
