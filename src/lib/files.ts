import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file whole or not at all: who reads meanwhile, or after a kill, finds the old content or the new. */
export function replaceFile(file: string, content: string | Uint8Array, mode = 0o644): void {
  writeFileSync(`${file}.new`, content, { mode });
  renameSync(`${file}.new`, file);
}

/** Writes a file whole unless it is there already; of several processes at once one wins. Returns true for that one. */
export function createFile(file: string, content: string, mode = 0o644): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}
