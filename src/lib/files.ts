import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file atomically: a reader, or the state after a kill, sees the old content or the new. */
export function replaceFile(file: string, content: string | Uint8Array, mode = 0o644): void {
  writeFileSync(`${file}.new`, content, { mode });
  renameSync(`${file}.new`, file);
}

/** Writes a file atomically unless it exists. Of several processes at once, one wins; returns true for that one. */
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
