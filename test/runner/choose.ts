import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { findChromium } from '../support/browser/chromium.ts';
import { isUnit, reachedFrom, root } from './graph.ts';

/** A choice that cannot be made, in a sentence for whoever made it. */
export class UnknownChoice extends Error {}

/** What partners and payments depend on; pages and processes show nothing new on another server. */
const stockFolders = ['test/api/', 'test/journeys/', 'test/payments/'];

export const allTests = (): string[] => globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).sort();

/**
 * The test files that a command line means: all, one of the kinds `unit`, `pages`, `stock` and `changed`, or those with a part
 * of a name in their path. After `stock`, parts of names; after `changed`, what to compare with.
 *
 * @throws UnknownChoice when nothing fits
 */
export function chooseTests([first = '', ...rest]: string[]): string[] {
  const all = allTests();
  if (first === 'unit') return all.filter(isUnit);
  if (first === 'changed') return reachedByChanges(all, changedFiles(rest[0]));
  if (first === 'stock') {
    if (rest.length > 0) return byName(all, rest);
    return all.filter((file) => stockFolders.some((folder) => file.startsWith(folder)));
  }
  const named = first !== '' && first !== 'pages';
  const chosen = named ? byName(all, [first, ...rest]) : all.filter((file) => first === '' || isPage(file));
  if (findChromium() || !chosen.some(isPage)) return chosen;
  console.log(`Chromium was not found, so these page tests are left out:\n  ${chosen.filter(isPage).join('\n  ')}`);
  return chosen.filter((file) => !isPage(file));
}

const isPage = (file: string) => file.startsWith('test/pages/');

function byName(all: string[], names: string[]): string[] {
  const chosen = names.flatMap((name) => {
    const part = name.replace(`${root}/`, '').replace(/^\.\//, '');
    const found = all.includes(part) ? [part] : all.filter((file) => file.includes(part));
    if (found.length > 0) return found;
    throw new UnknownChoice(`No test file has "${name}" in its path.`);
  });
  return [...new Set(chosen)];
}

/** The files that differ from a commit: what was committed since the two parted, what was not, and what is new; not what is gone. */
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

/** Files that no test runs or reads by name, and that change nothing in how tests run. */
const reachesNothing = /\.md$|^(?:docs|bench)\/|^\.(?:editorconfig|gitignore|nvmrc)$|^biome\.json$/;

/** What all tests run on. */
const reachesAll = /^package(?:-lock)?\.json$|^test\/run(?:\.ts$|ner\/)/;

/**
 * The tests that a change of some files can reach, the nearest first. What all tests run on reaches all of
 * them, and so does a file that no test leads to.
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
