import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How many requests of one connection may be under way. Browsers, proxies and HTTP clients send one at a time. */
const maxOfConnection = 20;

/**
 * Closes a connection on which requests arrive faster than they are answered. Node hands over all requests that arrive
 * together, a thousand in 64 KiB, before it does anything else. So a few connections would keep everybody waiting for
 * seconds. Must be added before all other hooks.
 */
export function limitPipelined(app: FastifyInstance): void {
  const underWay = new WeakMap<Socket, number>();
  const closed = new WeakSet<Socket>();
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    const count = (underWay.get(socket) ?? 0) + 1;
    if (count > maxOfConnection) closed.add(socket);
    if (closed.has(socket)) {
      reply.hijack();
      socket.destroy();
      return;
    }
    underWay.set(socket, count);
    reply.raw.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    done();
  });
}
