import { Readable } from 'node:stream';

/** A cell: text that a spreadsheet would take for a formula is kept from being one. */
function cell(value: string | number | bigint | Date | null): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  const text = String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export type CsvRow = (string | number | bigint | Date | null)[];

/**
 * RFC 4180 text as it comes, with a byte order mark so that spreadsheets read it as UTF-8; nothing is held in memory
 * beyond the batch at hand.
 */
export function csvStream(header: string[], batches: AsyncIterable<CsvRow[]>): Readable {
  const line = (row: CsvRow) => `${row.map(cell).join(',')}\r\n`;
  async function* lines() {
    yield `\uFEFF${line(header)}`;
    for await (const batch of batches) yield batch.map(line).join('');
  }
  return Readable.from(lines());
}
