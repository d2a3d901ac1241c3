import { createServer } from 'node:net';

/** A free TCP port on loopback: the wished one when it is free, otherwise any. */
export function freePort(wished = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () => (wished ? freePort().then(resolve, reject) : reject(new Error('no free port'))));
    probe.listen(wished, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
