import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFile } from './files.ts';
import { beginningOf } from './processes.ts';
import { StartFault } from './start-fault.ts';

/**
 * Locks the data folder for this process: two services must not share the embedded servers. The file holds the process
 * id and start time, so a process id reused after a crash does not keep the folder locked.
 *
 * @returns a function that releases the lock
 * @throws StartFault that names the process holding the lock; the lock of a process that is gone is taken over
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'service.pid');
  const own = `${process.pid} ${beginningOf(process.pid)}`;
  for (let attempt = 0; attempt < 5; attempt++) {
    if (createFile(file, own)) return () => releaseLock(file, own);
    const holder = read(file);
    if (holder === null) continue;
    const [pid = '', ...beginning] = holder.split(' ');
    if (beginningOf(Number(pid)) === beginning.join(' ')) {
      throw new StartFault(`Another service (process ${pid}) uses ${dataDir}. Stop it, or set another DATA_DIR.`);
    }
    discard(file, holder);
  }
  throw new StartFault(`Several services are starting on ${dataDir} at once. Start only one.`);
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null; // released just now
  }
}

function releaseLock(file: string, own: string): void {
  if (read(file) === own) rmSync(file, { force: true });
}

/** Removes the lock of a process that is gone, unless another process was faster and has put its own there. */
function discard(file: string, stale: string): void {
  const aside = `${file}.${process.pid}.old`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return;
  }
  const moved = read(aside);
  rmSync(aside, { force: true });
  if (moved !== null && moved !== stale) createFile(file, moved);
}
