import { createServer } from 'node:net';
import { pause } from './time.ts';

const retryMs = 20;

/**
 * A free TCP port on loopback: the wished one when it is free, otherwise any.
 *
 * @param waitMs how long to wait for the wished port, because a process that just ended holds its ports a moment longer
 */
export async function freePort(wished = 0, waitMs = 0): Promise<number> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const port = await openOnce(wished);
    if (port !== null) return port;
    if (wished === 0) throw new Error('no free port');
    if (performance.now() >= deadline) return freePort();
    await pause(retryMs);
  }
}

/** Opens a port, any for 0, and closes it again; null when it cannot be opened. */
function openOnce(wished: number): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen(wished, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : null));
    });
  });
}
