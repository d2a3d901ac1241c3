import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/** How long a client may read nothing of its response. */
const unreadMs = 30_000;

/**
 * Cuts off a response of which the client reads nothing. Node would keep the unread rest in memory for as long as the
 * client leaves the connection open, and a page of a list can have megabytes. Exports and event streams have limits of
 * their own.
 */
export function cutUnread(app: FastifyInstance, limitMs = unreadMs): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!(payload instanceof Readable)) reply.raw.setTimeout(limitMs);
    done();
  });
}
