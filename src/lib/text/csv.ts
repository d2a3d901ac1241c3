import { Readable } from 'node:stream';

/** What begins a formula, in full width too. */
const formula = /[=+\-@＝＋－＠]/;
/** Where a spreadsheet that splits otherwise than we do begins a cell. A comma is not among them: quotes hold there. */
const separator = /[;\t\r\n]/;
/** What a spreadsheet passes over before a cell's text: blanks, what cannot be seen, the quotes around it. */
const passedOver = /[\s\p{C}"]/u;
/** A negative number is no formula. */
const number = /^-?\d+(?:\.\d+)?$/;

/** Puts an apostrophe before each character that would begin a formula, wherever a cell could begin. */
function defuse(text: string): string {
  if (number.test(text)) return text;
  let out = /^[\t\r\n]/.test(text) ? "'" : '';
  let atStart = true;
  for (const char of text) {
    if (atStart && formula.test(char)) out += "'";
    atStart = separator.test(char) || (atStart && passedOver.test(char));
    out += char;
  }
  return out;
}

/** A cell: text that a spreadsheet would take for a formula is kept from being one. */
function cell(value: string | number | bigint | Date | null): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === 'string' ? defuse(value) : String(value);
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
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
