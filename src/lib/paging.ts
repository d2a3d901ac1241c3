import { instantOfMs } from './time.ts';

/** How many rows a page shows. */
export const pageSize = 50;
const batchSize = 500;
/** The limit of an export: two million rows, more than a spreadsheet can open. */
const maxBatches = 4_000;

/** Rows of a list from a position on, at most `limit`. A position is the cursor of the row before it. */
export type ReadFrom<Row> = (after: string | null, limit: number) => Promise<Row[]>;

/** One page, and the cursor of the next; null at the end. */
export async function readPage<Row>(
  read: ReadFrom<Row>,
  cursorOf: (row: Row) => string,
  after: string | null,
): Promise<{ rows: Row[]; next: string | null }> {
  const found = await read(after, pageSize + 1);
  const rows = found.slice(0, pageSize);
  const last = rows.at(-1);
  return { rows, next: found.length > pageSize && last !== undefined ? cursorOf(last) : null };
}

/**
 * All rows in batches of 500, each read separately.
 *
 * @throws Error beyond the limit of an export: its download fails, so nobody takes it for complete
 */
export async function* batchesOf<Row>(read: ReadFrom<Row>, cursorOf: (row: Row) => string): AsyncGenerator<Row[]> {
  let after: string | null = null;
  for (let batch = 0; batch < maxBatches; batch++) {
    const rows: Row[] = await read(after, batchSize);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) return;
    after = cursorOf(last);
  }
  if ((await read(after, 1)).length > 0) throw new Error(`an export has more than ${maxBatches * batchSize} rows`);
}

const cursorPattern = /^(\d{1,15})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A cursor of a row by its instant and id. */
export function cursorAt(row: { created_at: Date; id: string }): string {
  return `${row.created_at.getTime()}-${row.id}`;
}

/** The instant and id in such a cursor; null for any other text, which starts from the beginning. */
export function placeOf(cursor: string | null): { at: Date; id: string } | null {
  const [, ms = '', id] = cursorPattern.exec(cursor ?? '') ?? [];
  const at = instantOfMs(ms);
  return at === null || id === undefined ? null : { at, id };
}
