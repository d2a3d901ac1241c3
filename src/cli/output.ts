import { printable } from '../lib/text/printable.ts';

/**
 * Formats a command's answer for people: fields as lines, lists of values as a line each or, inside an object, as one
 * line, lists of objects as tables without the columns in `leftOut`.
 */
export function layOut(answer: Record<string, unknown>, leftOut: readonly string[] = []): string {
  return Object.entries(answer)
    .map(([name, value]) => (Array.isArray(value) ? `${name}\n${table(value, leftOut)}` : `${field(name, value)}\n`))
    .join('');
}

function field(name: string, value: unknown, indent = ''): string {
  if (Array.isArray(value) && value.every((part) => typeof part !== 'object')) {
    return field(name, value.join(', ') || null, indent);
  }
  if (typeof value !== 'object' || value === null)
    return `${indent}${printable(`${name.padEnd(24 - indent.length)} ${value ?? '–'}`)}`;
  const inner = Object.entries(value).map(([key, part]) => field(key, part, `${indent}  `));
  return [`${indent}${name}`, ...inner].join('\n');
}

function table(rows: unknown[], leftOut: readonly string[]): string {
  if (rows.length === 0) return '  (none)\n';
  const records = rows.filter((row) => typeof row === 'object' && row !== null) as Record<string, unknown>[];
  if (records.length === 0) return rows.map((row) => `  ${printable(String(row))}\n`).join('');
  const names = [...new Set(records.flatMap(Object.keys))].filter((name) => !leftOut.includes(name));
  const cell = (value: unknown) =>
    printable(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '–'));
  const lines = [names, ...records.map((record) => names.map((name) => cell(record[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return `${lines
    .map(
      (line) =>
        `  ${line
          .map((text, i) => text.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}`,
    )
    .join('\n')}\n`;
}
