import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPgbench, pgbenchLogin } from './creates.ts';
import type { Finding } from './figure.ts';
import { rounds, shuffled } from './rounds.ts';
import type { Stage } from './stage.ts';

/** A read by the service, and the best hand-written query for the same rows. */
export type Read = { name: string; read(): Promise<{ length: number }>; query: string; overHttp?(): Promise<void> };

const calls = 12;
const target = { overMs: 1, longestMs: 20 };

type Times = { ours: number[]; byHand: number[]; http: number[]; rows: number };

/** Runs the reads one after another, in random order in each round, and compares the times of single reads. */
export async function compareReads(
  stage: Stage,
  databaseUrl: string,
  reads: Read[],
  facts: string[],
): Promise<Finding> {
  const times = new Map<string, Times>(reads.map(({ name }) => [name, { ours: [], byHand: [], http: [], rows: 0 }]));
  for (let round = 0; round <= rounds; round++) {
    for (const one of shuffled(reads)) {
      const known = times.get(one.name) as Times;
      const byHand = await timesByHand(stage, databaseUrl, one.query);
      const ours = await timesOf(async () => (known.rows = (await one.read()).length));
      const http = one.overHttp ? await timesOf(one.overHttp) : [];
      if (round === 0) continue;
      known.ours.push(...ours);
      known.byHand.push(...byHand);
      known.http.push(...http);
    }
    process.stdout.write(`  ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}\n`);
  }
  const longestOf = (of: (known: Times) => number[]) => at([...times.values()].flatMap(of), 1).toFixed(1);
  const rows = [...times].map(([name, { ours, byHand, http, rows }]) => {
    const [median, hand, longest] = [at(ours, 0.5), at(byHand, 0.5), at(ours, 1)];
    const met = median <= hand + target.overMs && longest <= target.longestMs;
    const ms = (value: number) => value.toFixed(2);
    return [name, String(rows), `**${ms(median)}**`, ms(hand), ms(at(ours, 0.99)), ms(longest), met ? '✓' : '✗'].concat(
      http.length > 0 ? `${ms(at(http, 0.5))} (${ms(at(http, 0.99))})` : '',
    );
  });
  return {
    facts: [
      ...facts,
      `${rounds * calls} reads of each kind, one at a time, in ${rounds} rounds after one to warm up; times in milliseconds.`,
      `“Ours” is a read by the service in its transaction, with scope and row-level security; “by hand” one statement sent`,
      `by pgbench as a login that sees all rows. The target is by hand + ${target.overMs} ms, and none above ${target.longestMs} ms.`,
      `The longest of all single reads: ${longestOf(({ ours }) => ours)} ms, by hand ${longestOf(({ byHand }) => byHand)} ms.`,
    ],
    table: {
      head: ['read', 'rows', 'ours, p50', 'by hand, p50', 'ours, p99', 'longest', 'target', 'over HTTP, p50 (p99)'],
      rows,
    },
  };
}

/** The value below which this share of the values is. */
export function at(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** How long single runs take, in milliseconds. */
export async function timesOf(run: () => Promise<unknown>, times = calls): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const from = performance.now();
    await run();
    took.push(performance.now() - from);
  }
  return took;
}

/** The same for a prepared statement of one client of pgbench. */
async function timesByHand(stage: Stage, databaseUrl: string, query: string): Promise<number[]> {
  const program = findPgbench();
  if (!program) throw new Error('pgbench was not found: apt-get install postgresql');
  const { connection, database } = pgbenchLogin(databaseUrl);
  const [script, log] = [join(stage.folder, 'by-hand.sql'), join(stage.folder, 'by-hand')];
  writeFileSync(script, `${query.replace(/\s+/g, ' ').trim()};\n`);
  const args = [
    '-n',
    '-M',
    'prepared',
    '-c',
    '1',
    '-t',
    String(calls),
    '-f',
    script,
    '-l',
    '--log-prefix',
    log,
    database,
  ];
  const running = promisify(execFile)(program, args, { env: { ...process.env, ...connection }, timeout: 60_000 });
  await running;
  const file = `${log}.${running.child.pid}`;
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  rmSync(file);
  return lines.map((line) => Number(line.split(' ')[2]) / 1000);
}
