import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Lanes } from '../concurrency/lanes.ts';

/** Characters that begin a formula, also in full width. */
const formula = /[=+\-@＝＋－＠]/;
/**
 * Separators at which a spreadsheet of another locale would begin a cell. A comma is not among them, because quotes
 * protect it.
 */
const separator = /[;\t\r\n]/;
/** Characters that a spreadsheet skips before a cell's text: spaces, invisible characters, the quotes around it. */
const passedOver = /[\s\p{C}"]/u;
/** A negative number is no formula. */
const number = /^-?\d+(?:\.\d+)?$/;

/** Puts an apostrophe before each character that could begin a formula, wherever a cell could begin. */
function defuse(text: string): string {
  if (number.test(text)) return text;
  let out = /^[\t\r\n]/.test(text) ? "'" : '';
  if (!formula.test(text)) return out + text;
  let atStart = true;
  for (const char of text) {
    if (atStart && formula.test(char)) out += "'";
    atStart = separator.test(char) || (atStart && passedOver.test(char));
    out += char;
  }
  return out;
}

/** One cell. Text that a spreadsheet would take for a formula is escaped. */
function cell(value: string | number | bigint | Date | null): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === 'string' ? defuse(value) : String(value);
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export type CsvRow = (string | number | bigint | Date | null)[];

/**
 * The process writes one batch at a time, of all files together: exports alternate with each other and with other work.
 */
const turns = new Lanes(1);

/**
 * Streams RFC 4180 text, with a byte order mark so that spreadsheets read it as UTF-8. Only the current batch is in
 * memory. Between two batches the process does other work that has arrived.
 */
export function csvStream(header: string[], batches: AsyncIterable<Iterable<CsvRow>>): Readable {
  const line = (row: CsvRow) => `${row.map(cell).join(',')}\r\n`;
  const write = async (batch: Iterable<CsvRow>) => {
    const text = Iterator.from(batch).map(line).toArray().join('');
    await setImmediate();
    return text;
  };
  async function* lines() {
    yield `\uFEFF${line(header)}`;
    for await (const batch of batches) yield await turns.run('', () => write(batch));
  }
  return Readable.from(lines());
}
