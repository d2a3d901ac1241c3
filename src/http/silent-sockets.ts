import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** What was on its way when the stop began still arrives within this. */
const graceMs = 1_000;

/**
 * Lets a stop close connections on which no request ever arrived. Browsers and load balancers open some in advance.
 * Node counts them as busy, and a stop would wait for them for a minute.
 */
export function closeSilentSockets(app: FastifyInstance): void {
  const silent = new Set<Socket>();
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', ({ socket }) => silent.delete(socket));
  app.addHook('preClose', async () => {
    setTimeout(() => {
      for (const socket of silent) socket.destroy();
    }, graceMs);
  });
}
