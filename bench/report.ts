import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Comparison, Figure, Finding } from './figure.ts';
import { ratio, spread } from './rounds.ts';

const documents = ['docs/performance.md', 'docs/scaling.md'];

/** The properties of the machine that a ratio depends on. */
export function machine(): string {
  const gibibytes = (totalmem() / 2 ** 30).toFixed(0);
  return `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${gibibytes} GiB, Node ${process.versions.node}`;
}

function comparisonRow({ title, arm, base, measured, target }: Comparison): string[] {
  const perSecond = (name: string) => spread(measured.rates[name] ?? []).median.toFixed(0);
  const { median, min, max } = ratio(measured, arm, base);
  const wanted = target === undefined ? '' : `${target.toFixed(2)} ${median >= target ? '✓' : '✗'}`;
  const range = `${min.toFixed(2)} to ${max.toFixed(2)}`;
  return [title, `**${median.toFixed(2)}**`, range, wanted, perSecond(arm), perSecond(base)];
}

function tableOf(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A finding in Markdown, for the document. */
export function render({ what }: Pick<Figure, 'what'>, finding: Finding, load: string): string {
  const { facts, comparisons = [], table, appendix } = finding;
  const date = new Date().toISOString().slice(0, 10);
  const parts = [what, [`Measured on ${date}: ${machine()}, load before the run ${load}.`, ...facts].join(' ')];
  if (comparisons.length > 0) {
    const head = [
      'figure',
      'ratio (median)',
      'range over rounds',
      'target',
      'per second',
      'measured against, per second',
    ];
    parts.push(tableOf(head, comparisons.map(comparisonRow)));
  }
  if (table) parts.push(tableOf(table.head, table.rows));
  if (appendix) parts.push(appendix.title, ...appendix.code.map((code) => `\`\`\`sql\n${code}\n\`\`\``));
  return parts.join('\n\n');
}

/** Puts a finding into the figure's block of the document that has one, and keeps the text around it. */
export function writeBlock(name: string, text: string): void {
  const [begin, end] = [`<!-- bench ${name} -->`, '<!-- end -->'];
  const file = documents.find((path) => readFileSync(path, 'utf8').includes(begin));
  if (!file) throw new Error(`none of ${documents.join(', ')} has a block that begins with "${begin}"`);
  const document = readFileSync(file, 'utf8');
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`${file} has no block between "${begin}" and "${end}"`);
  writeFileSync(file, `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`);
}
