/** The most rows that are read at once of a list in which many are not wanted. */
const maxAtOnce = 1_000;

/**
 * Rows of a list that are wanted, at most `limit`. Nearly all are wanted, so as many are read as are shown. If some are
 * not, larger and larger parts of the list follow, to its end.
 */
export async function readUntilFull<Row>(
  limit: number,
  read: (last: Row | undefined, limit: number) => Promise<Row[]>,
  isWanted: (row: Row) => boolean,
): Promise<Row[]> {
  const wanted: Row[] = [];
  let last: Row | undefined;
  for (let atOnce = limit; ; atOnce = Math.max(limit, Math.min(maxAtOnce, 2 * atOnce))) {
    const rows: Row[] = await read(last, atOnce);
    wanted.push(...rows.filter(isWanted));
    last = rows.at(-1);
    if (rows.length < atOnce || wanted.length >= limit) return wanted.slice(0, limit);
  }
}
