import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { pause } from '../lib/time.ts';
import { cutExports } from '../web/download.ts';

/** How long after the signal connections are cut off, and the process ends: before its manager kills it at 30 s. */
const cutAfterMs = 17_000;
const maxStopMs = 20_000;
/** How long a reader of metrics may take once the stop is complete. */
const metricsMs = 1_000;

/**
 * Once a stop has begun, closes the connection after each response, also if the request arrived before. Clients and
 * load balancers then open their next connection to another node, so this one can end.
 */
export function closeWhenStopping(app: FastifyInstance, stopping: AbortSignal): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping.aborted) reply.header('connection', 'close');
    done();
  });
}

/**
 * Closes the servers of a process whose stop has begun. `/readyz` already answers 503. New connections are accepted for
 * `drainMs`, until load balancers have noticed. Then requests in progress finish and streams end. Connections that are
 * still open 17 s after the signal are cut off. The operators' server closes last, because load balancers may ask it
 * whether this node is ready.
 *
 * @param drainMs at most 15 s
 */
export async function stopServers(
  app: FastifyInstance,
  metricsServer: FastifyInstance | null,
  drainMs: number,
): Promise<void> {
  await pause(drainMs);
  await closeWithin(app, cutAfterMs - drainMs);
  if (metricsServer) await closeWithin(metricsServer, metricsMs);
}

async function closeWithin(app: FastifyInstance, limitMs: number): Promise<void> {
  const cut = setTimeout(() => {
    cutExports();
    app.server.closeAllConnections();
  }, limitMs);
  await app.close().finally(() => clearTimeout(cut));
}

/**
 * Ends a process 20 s after it was told to stop, whatever it still waits for: a loop may wait half a minute for a
 * database that is silent or locked. Another node repeats its unfinished work, as after a crash.
 */
export function endInTime(log: Logger): void {
  const end = () => {
    log.warn('the stop took too long; what is under way is left to the next process');
    process.exit();
  };
  setTimeout(end, maxStopMs).unref();
}
