import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { pause } from '../lib/time.ts';

/** From the signal: when open connections are cut off, and when the process ends. Many are killed after 30 s. */
const cutAfterMs = 17_000;
const longestStopMs = 20_000;
/** Nobody waits for a slow reader of figures. */
const figuresMs = 1_000;

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
 * Ends the servers of a process whose stop has begun: `/readyz` already says 503. Connections are accepted for a while
 * longer, until load balancers have noticed; then requests under way finish, streams end, and what is left 17 s after
 * the signal is cut off. The operators' listener stays until then: load balancers may ask it whether this node is
 * ready.
 *
 * @param drainMs at most 15 s
 */
export async function stopServers(
  app: FastifyInstance,
  figures: FastifyInstance | null,
  drainMs: number,
): Promise<void> {
  await pause(drainMs);
  await closeWithin(app, cutAfterMs - drainMs);
  if (figures) await closeWithin(figures, figuresMs);
}

async function closeWithin(app: FastifyInstance, limitMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), limitMs);
  await app.close().finally(() => clearTimeout(cut));
}

/**
 * Ends a process that was just told to stop 20 s from now, whatever it still waits for: a loop may wait half a minute
 * for a database that is silent or locked. What it leaves is repeated by another node, as after a crash.
 */
export function endInTime(log: Logger): void {
  const end = () => {
    log.warn('the stop took too long; what is under way is left to the next process');
    process.exit();
  };
  setTimeout(end, longestStopMs).unref();
}
