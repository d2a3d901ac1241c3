import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';

/** The checkout. All file names are relative to it. */
export const root = resolve(import.meta.dirname, '../..');

const files = globSync(['*.*', '{bin,bench,contracts,docs,migrations,src,test}/**'], { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(root, join(entry.parentPath, entry.name)));
const isFile = new Set(files);
const byFolder = Map.groupBy(files, (file) => dirname(file));

/** The files that a file needs to run (its imports, and files that it starts), and those it only reads. */
type Needs = { runs: string[]; reads: string[] };

/** Files that a file needs without naming them. */
const unnamed: Record<string, string[]> = {
  'bin/quittance': ['src/cli.ts'],
  'test/support/service.ts': ['src/main.ts'],
  'test/support/database.ts': ['src/db/migrate.ts'], // the runner migrates the template that it clones
};

const known = new Map<string, Needs>();

function needsOf(file: string): Needs {
  let needs = known.get(file);
  if (!needs) {
    needs = namedIn(file);
    needs.runs.push(...(unnamed[file] ?? []));
    known.set(file, needs);
  }
  return needs;
}

/** The files, folders and file patterns that a file names in quotes, except in type imports. */
function namedIn(file: string): Needs {
  const needs: Needs = { runs: [], reads: [] };
  if (!file.endsWith('.ts')) return needs;
  const text = readFileSync(join(root, file), 'utf8')
    .replace(/^(?:import|export) type [^;]*?from '[^']*';/gm, '')
    .replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  for (const [, name = ''] of text.matchAll(/['`]([\w./*-]{3,100})['`]/g)) {
    const isRelative = name.startsWith('.');
    // Tests also name files relative to the root.
    if (!isRelative && (file.startsWith('src/') || (!/[./]/.test(name) && name !== 'src'))) continue;
    const path = isRelative ? relative(root, resolve(root, dirname(file), name)) : name;
    if (isFile.has(path)) needs[isRelative ? 'runs' : 'reads'].push(path);
    else if (/^\w.*\*/.test(path)) needs.reads.push(...files.filter((other) => matchesGlob(other, path)));
    else if (path === 'src') needs.reads.push(...files.filter((other) => other.startsWith('src/')));
    else needs.reads.push(...(byFolder.get(path) ?? [])); // a folder such as migrations: each of its files
  }
  return needs;
}

/** All files that a file needs, each with its number of steps. The needs of a file that is only read are left out. */
export function reachedFrom(file: string, withReads = true): Map<string, number> {
  const steps = new Map([[file, 0]]);
  const read = new Map<string, number>();
  for (const [at, distance] of steps) {
    const { runs, reads } = needsOf(at);
    for (const next of runs) if (!steps.has(next)) steps.set(next, distance + 1);
    for (const next of reads) if (!read.has(next)) read.set(next, distance + 1);
  }
  return withReads ? new Map([...read, ...steps]) : steps;
}

/** These make a test slow to start: a database, a chain, a browser, a process of the service. */
const slowToStart = [
  'src/db/embedded.ts',
  'src/lib/processes.ts',
  'test/support/database.ts',
  'test/support/chain/chain.ts',
  'test/support/browser/browser.ts',
  'test/support/service.ts',
];

/** True for a test that needs nothing but its own process. */
export function isUnit(test: string): boolean {
  const reached = reachedFrom(test, false);
  return !slowToStart.some((file) => reached.has(file));
}

export const needsDatabase = (test: string): boolean => reachedFrom(test, false).has('test/support/database.ts');
