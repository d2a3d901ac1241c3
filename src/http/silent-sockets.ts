import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a request that was already sent when the stop began may take to arrive. */
const graceMs = 1_000;

/**
 * Closes connections on which no request ever arrived when the server closes. Browsers and load balancers open some in
 * advance. Node counts them as busy, so a stop would wait a minute for them.
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
