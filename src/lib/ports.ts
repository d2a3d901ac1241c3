import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { pause } from './time.ts';

const retryMs = 20;
/**
 * Linux gives outgoing connections local ports from 32768 up, other systems higher ones. A port below that is not taken
 * by a connection between the moment it was found free and the moment its server opens it.
 */
const servers = { from: 20_000, below: 32_768 };
const attempts = 100;

/**
 * A free TCP port on loopback: the wished one when it is free, otherwise any port that the system gives to no outgoing
 * connection.
 *
 * @param waitMs how long to wait for the wished port, because a process that just ended holds its ports a moment longer
 */
export async function freePort(wished = 0, waitMs = 0): Promise<number> {
  if (wished === 0) return anyPort();
  const deadline = performance.now() + waitMs;
  while (!(await isFree(wished))) {
    if (performance.now() >= deadline) return anyPort();
    await pause(retryMs);
  }
  return wished;
}

async function anyPort(): Promise<number> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const port = randomInt(servers.from, servers.below);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}

/** Opens a port and closes it again. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
