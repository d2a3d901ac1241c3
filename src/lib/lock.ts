import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Takes the data folder for this process: two services must not share embedded parts.
 *
 * @returns what gives it back
 * @throws Error naming the process that holds it; the lock of a process that is gone is taken over
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'service.pid');
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid !== process.pid && isOurs(pid)) {
      throw new Error(`Another service (process ${pid}) already runs on ${dataDir}; stop it, or set DATA_DIR.`);
    }
  }
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}

/** True when a process lives and was started from this service's main file. */
function isOurs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const commandFile = `/proc/${pid}/cmdline`;
  return !existsSync(commandFile) || readFileSync(commandFile, 'utf8').includes('main.ts');
}
