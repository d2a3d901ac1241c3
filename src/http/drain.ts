import type { FastifyInstance } from 'fastify';
import { pause } from '../lib/time.ts';

/** From the signal to the last cut connection. Orchestrators commonly kill after 30 s. */
const longestStopMs = 20_000;

/**
 * Closes the connection of each response sent once a stop has begun, also of requests that arrived before. Clients and
 * load balancers then open their next connection to another node, instead of holding this one up.
 */
export function closeWhenStopping(app: FastifyInstance, stopping: AbortSignal): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping.aborted) reply.header('connection', 'close');
    done();
  });
}

/**
 * Ends a server whose stop has begun: `/readyz` already says 503. Connections are accepted for a while longer, until
 * load balancers have noticed; then requests under way finish, streams end, and what is left after 20 s is cut off.
 *
 * @param drainMs at most 15 s
 */
export async function stopServer(app: FastifyInstance, drainMs: number): Promise<void> {
  await pause(drainMs);
  const cut = setTimeout(() => app.server.closeAllConnections(), longestStopMs - drainMs);
  await app.close().finally(() => clearTimeout(cut));
}
