import { existsSync, rmSync } from 'node:fs';

const [passes, restMs] = [200, 20];

/**
 * Removes a folder even while processes that were just killed still write and delete in it. Node's `rmSync` stops
 * silently at a file that disappears meanwhile.
 */
export function removeFolder(folder: string): void {
  for (let pass = 0; existsSync(folder) && pass < passes; pass++) {
    if (pass > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs); // also works at exit
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}
