/**
 * How long to wait after failures: the first wait, doubling with each further failure, up to the longest.
 *
 * @param failures how many there were in a row, at least 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
}
