import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { findChromium } from '../support/browser/chromium.ts';
import { findHaproxy } from '../support/net/haproxy.ts';
import { findPgbouncer } from '../support/net/pgbouncer.ts';
import { findPreviousRelease } from '../support/previous-release.ts';
import { isUnit, reachedFrom, root } from './graph.ts';

/** The command line selects no tests; the message says why. */
export class UnknownChoice extends Error {}

/** The tests of the API, journeys and payments. Tests of pages and processes find nothing new on another server. */
const stockFolders = ['test/api/', 'test/journeys/', 'test/payments/'];
/**
 * Of those, the tests of lying endpoints and of the limit of pages. Other files make the service send every statement
 * of these too, so on another server they find nothing new.
 */
const askedElsewhere = [
  'test/payments/lying-reader.test.ts',
  'test/journeys/watch-false-answers.test.ts',
  'test/journeys/page-limit.test.ts',
];

/** All test files; packages installed below `test/` bring tests of their own, which are not ours. */
export const allTests = (): string[] =>
  globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root, exclude: ['**/node_modules'] }).sort();

/**
 * The test files that a command line selects: all but the container's, one of the kinds `unit`, `pages`, `stock`,
 * `container` and `changed`, or those with a part of a name in their path. Parts of names may follow `stock`; a commit to
 * compare with, `changed`.
 *
 * @throws UnknownChoice when nothing matches
 */
export function chooseTests([first = '', ...rest]: string[]): string[] {
  if (first === 'container') return [containerTest];
  const all = allTests().filter((file) => file !== containerTest);
  if (first === 'unit') return all.filter(isUnit);
  if (first === 'changed') return reachedByChanges(all, changedFiles(rest[0]));
  if (first === 'stock') {
    if (rest.length > 0) return byName(all, rest);
    const isStock = (file: string) => stockFolders.some((folder) => file.startsWith(folder));
    return all.filter((file) => isStock(file) && !askedElsewhere.includes(file));
  }
  const named = first !== '' && first !== 'pages';
  const chosen = named ? byName(all, [first, ...rest]) : all.filter((file) => first === '' || isPage(file));
  const balanced = findHaproxy() ? chosen : leaveOut(chosen, isBalanced, 'HAProxy');
  const pooled = findPgbouncer() ? balanced : leaveOut(balanced, isPooled, 'PgBouncer');
  const hasPrevious = !pooled.includes(upgradeTest) || findPreviousRelease() !== null;
  const runnable = hasPrevious ? pooled : leaveOut(pooled, isUpgrade, 'A git history with the previous release');
  return findChromium() ? runnable : leaveOut(runnable, isPage, 'Chromium');
}

/** Builds the production image: it takes minutes, and the network. */
const containerTest = 'test/container/image.test.ts';
const isPage = (file: string) => file.startsWith('test/pages/');
const upgradeTest = 'test/service/upgrade.test.ts';
const isUpgrade = (file: string) => file === upgradeTest;
const balancedTests = ['test/service/balanced-nodes.test.ts', 'test/service/rolling-restart.test.ts', upgradeTest];
const isBalanced = (file: string) => balancedTests.includes(file);
const isPooled = (file: string) => file === 'test/service/pooler.test.ts';

/** Says which tests do not run for lack of a program, and returns the others. */
function leaveOut(chosen: string[], needIt: (file: string) => boolean, program: string): string[] {
  const out = chosen.filter(needIt);
  if (out.length > 0) console.log(`${program} was not found, so these tests are left out:\n  ${out.join('\n  ')}`);
  return chosen.filter((file) => !needIt(file));
}

function byName(all: string[], names: string[]): string[] {
  const chosen = names.flatMap((name) => {
    const part = name.replace(`${root}/`, '').replace(/^\.\//, '');
    const found = all.includes(part) ? [part] : all.filter((file) => file.includes(part));
    if (found.length > 0) return found;
    throw new UnknownChoice(`No test file has "${name}" in its path.`);
  });
  return [...new Set(chosen)];
}

/** The files changed or added since the merge base with a commit, committed or not; deleted files are left out. */
function changedFiles(base = 'main'): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  let parted: string;
  try {
    parted = git('merge-base', base, 'HEAD').trim();
  } catch {
    throw new UnknownChoice(`There is no commit "${base}" to compare with.`);
  }
  const text =
    git('diff', '--name-only', '--diff-filter=d', '--no-renames', parted) +
    git('ls-files', '--others', '--exclude-standard');
  return text.split('\n').filter(Boolean);
}

/** Files that no test runs or reads by name, and that do not affect how tests run. */
const reachesNothing = /\.md$|^(?:docs|bench)\/|^\.(?:editorconfig|gitignore|nvmrc)$|^biome\.json$/;

/** Files that all tests depend on. */
const reachesAll = /^package(?:-lock)?\.json$|^test\/run(?:\.ts$|ner\/)/;

/**
 * The tests that changes to some files can affect, the nearest first. A file that all tests depend on affects all of
 * them, and so does a file that no test is known to use.
 */
export function reachedByChanges(all: string[], changed: string[]): string[] {
  const steps = new Map(all.map((test) => [test, reachedFrom(test)]));
  const unknown = changed.filter(
    (file) =>
      reachesAll.test(file) ||
      (!reachesNothing.test(file) && ![...steps.values()].some((reached) => reached.has(file))),
  );
  if (unknown.length > 0) {
    console.log(`Any test may depend on ${unknown.slice(0, 5).join(', ')}: all run.`);
    return all;
  }
  const nearest = (test: string) => Math.min(...changed.map((file) => steps.get(test)?.get(file) ?? Infinity));
  return all
    .map((test) => ({ test, distance: nearest(test) }))
    .filter(({ distance }) => distance < Infinity)
    .sort((a, b) => a.distance - b.distance)
    .map(({ test }) => test);
}
