import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { type Measured, ratio, spread } from './rounds.ts';

/** One figure: an arm, the arm it is compared with, and what both do. */
export type Figure = { title: string; arm: string; base: string; what: string; measured: Measured };

const file = 'docs/performance.md';
const [begin, end] = ['<!-- npm run bench writes from here -->', '<!-- to here -->'];

/** A figure as one line for the terminal. */
export function line(figure: Figure): string {
  const { median, min, max } = ratio(figure.measured, figure.arm, figure.base);
  return `${figure.title}: ${median.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})`;
}

function row(figure: Figure): string {
  const { rates } = figure.measured;
  const perSecond = (arm: string) => spread(rates[arm] ?? []).median.toFixed(0);
  const { median, min, max } = ratio(figure.measured, figure.arm, figure.base);
  const cells = [figure.title, `**${median.toFixed(2)}**`, `${min.toFixed(2)} to ${max.toFixed(2)}`];
  return `| ${[...cells, perSecond(figure.arm), perSecond(figure.base)].join(' | ')} |`;
}

/** The properties of the machine that a ratio depends on. */
export function machine(): string {
  const gibibytes = (totalmem() / 2 ** 30).toFixed(0);
  return `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${gibibytes} GiB, Node ${process.versions.node}`;
}

/** Writes the generated part of `docs/performance.md` and keeps the text around it. */
export function writeReport(
  figures: Figure[],
  statements: string[],
  facts: { rounds: number; seconds: number; postgres: string; load: string },
): void {
  const text = readFileSync(file, 'utf8');
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${file} has lost its markers`);
  const part = `${begin}

Measured on ${new Date().toISOString().slice(0, 10)}: ${machine()}, PostgreSQL ${facts.postgres}, load before the run ${facts.load}.
${facts.rounds} rounds of ${facts.seconds} s per arm after one to warm up.

| figure | ratio (median) | range over rounds | per second | measured against, per second |
| --- | --- | --- | --- | --- |
${figures.map(row).join('\n')}

${figures.map(({ title, what }) => `- **${title}**: ${what}`).join('\n')}

The statements of a create, as the server sends them:

${statements.map((statement) => `\`\`\`sql\n${statement}\n\`\`\``).join('\n\n')}

${end}`;
  writeFileSync(file, before + part + after);
}
