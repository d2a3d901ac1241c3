import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/** How long the client of an answer may take none of it. */
const unreadMs = 30_000;

/**
 * Cuts off an answer of which its client takes nothing. Node would keep what is unread in memory for as long as the
 * client leaves the connection open, and a page of a list can have megabytes. Exports and event streams have limits of
 * their own.
 */
export function cutUnread(app: FastifyInstance, limitMs = unreadMs): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!(payload instanceof Readable)) reply.raw.setTimeout(limitMs);
    done();
  });
}
