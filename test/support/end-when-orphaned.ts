import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { signalProcess } from '../../src/lib/processes.ts';

/** Waits until the pipe from us is closed, ends the process with a signal, and removes its folder once it is gone. */
const watch = 'cat > /dev/null; kill "-$1" "$2"; while kill -0 "$2"; do sleep 0.1; done; rm -rf "$3"';

/**
 * Ends a detached process and removes its folder when we are killed: nothing of ours runs then, but the system closes
 * our pipes.
 *
 * @returns a function that ends the watch: call it before the process is ended as usual
 */
export function endWhenOrphaned(pid: number, signal: 'INT' | 'TERM', folder: string): () => void {
  const args = ['-c', watch, 'sh', signal, String(pid), folder];
  // Detached, because Ctrl-C in the terminal is for us to answer.
  const watcher = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  // In its group there is also `cat`.
  return () => {
    if (watcher.pid) signalProcess(-watcher.pid, 'SIGKILL');
  };
}
