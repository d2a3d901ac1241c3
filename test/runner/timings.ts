import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { TestsStream } from 'node:test';
import { root } from './graph.ts';

/** How long each file took in its last run, in milliseconds. Kept between runs, outside version control. */
const file = join(root, 'node_modules/.cache/quittance-tests/durations.json');
const maxShown = 30;

function readDurations(): Record<string, number> {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Files that start browsers, or several processes each. */
const isHeavy = (test: string) => /^test\/(?:pages|service)\//.test(test);

/**
 * Heavy files dealt out evenly among the others, and begun before the last of those: side by side they would keep each
 * other waiting for longer than anything else does.
 */
export function dealtOut(tests: string[]): string[] {
  const places = (some: string[], end: number) =>
    some.map((test, i): [string, number] => [test, (end * i) / some.length]);
  const heavy = places(tests.filter(isHeavy), 0.9);
  const others = places(
    tests.filter((test) => !isHeavy(test)),
    1,
  );
  return [...heavy, ...others].sort(([, a], [, b]) => a - b).map(([test]) => test);
}

/**
 * Files that never ran here first, dealt out by how heavy their folders are; then the slowest, so that no slow one runs
 * alone at the end.
 */
export function slowestFirst(tests: string[], durations = readDurations()): string[] {
  const last = (test: string) => durations[test] ?? Infinity;
  return dealtOut(tests).sort((a, b) => (last(a) === last(b) ? 0 : last(b) - last(a)));
}

type Timed = { name: string; file: string; ms: number };

/** Records how long files and tests take. `print` shows the slowest and saves the times of the files. */
export function watchTimings(stream: TestsStream) {
  const began = performance.now();
  const before = coreTimes();
  const files: Timed[] = [];
  const tests: Timed[] = [];
  const nameOf = (path = '') => relative(root, path);
  for (const event of ['test:pass', 'test:fail'] as const) {
    stream.on(event, ({ name, file, details }) => {
      if (details.type !== 'suite') tests.push({ name, file: nameOf(file), ms: details.duration_ms });
    });
  }
  stream.on('test:summary', ({ file, duration_ms }) => {
    if (file) files.push({ name: nameOf(file), file: nameOf(file), ms: duration_ms });
  });
  return {
    print: () => {
      const tooFew = files.length < 10;
      if (!tooFew) {
        show('Slowest files', files, ({ name }) => name);
        show('Slowest tests', tests, ({ file, name }) => `${file}: ${name}`);
        const now = coreTimes();
        const busy = Math.round((100 * (now.busy - before.busy)) / (now.all - before.all));
        console.log(
          `\n${seconds(performance.now() - began)} in all; ${cpus().length} cores were busy for ${busy} % of it.`,
        );
      }
      keepDurations(files);
    },
  };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(7)} s`;

function show(title: string, all: Timed[], text: (timed: Timed) => string): void {
  const slowest = all.toSorted((a, b) => b.ms - a.ms).slice(0, maxShown);
  console.log(`\n${title}:\n${slowest.map((timed) => `${seconds(timed.ms)}  ${text(timed)}`).join('\n')}`);
}

/** Busy and total time of all cores since the machine started, in milliseconds. */
function coreTimes(): { busy: number; all: number } {
  const sums = cpus().map(({ times }) => ({ idle: times.idle, all: Object.values(times).reduce((a, b) => a + b) }));
  const all = sums.reduce((sum, core) => sum + core.all, 0);
  return { all, busy: all - sums.reduce((sum, core) => sum + core.idle, 0) };
}

function keepDurations(files: Timed[]): void {
  mkdirSync(dirname(file), { recursive: true });
  const latest = Object.fromEntries(files.map(({ name, ms }) => [name, Math.round(ms)]));
  writeFileSync(file, JSON.stringify({ ...readDurations(), ...latest }));
}
