import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const parts = ['src', 'migrations', 'contracts', 'package.json'];

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();

/**
 * The last commit before the newest migration: the version that runs beside this one during an update. A reverted
 * migration does not count. Null without git history, as in an export, or if the clone does not go back far enough.
 */
export function findPreviousRelease(): string | null {
  try {
    const kept = git('ls-files', '--', 'migrations/[0-9]*.sql').split('\n');
    const newest = git('log', '-1', '--diff-filter=A', '--format=%H', '--', ...kept);
    return newest ? git('rev-parse', '--verify', '--quiet', `${newest}^`) : null;
  } catch {
    return null;
  }
}

/** Writes a commit's code into a temporary folder, with the packages of this checkout. */
export function checkOut(commit: string): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-previous-'));
  const archive = join(folder, 'code.tar');
  git('archive', '--format=tar', `--output=${archive}`, commit, ...parts);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
