import type { FastifyInstance, FastifyRequest } from 'fastify';
import { docsPath } from './api-document.ts';
import { payRoute } from './checkout/paths.ts';
import type { Context } from './context.ts';
import { AttemptLimit, clientSubject } from './lib/attempts.ts';
import { pause } from './lib/time.ts';
import { sendSlowDown } from './ui/slow-down.ts';

const windowMs = 10_000;
/** Who is turned away hears so late: a program that asks again at once is slowed down, as far as so many wait at most. */
const holdMs = 1_000;
const mostHeld = 1_000;
/** Said from memory, or kept for a while. */
const free = ['/healthz', '/readyz', '/metrics', '/assets', docsPath];

/**
 * Turns a client away that opens pages faster than people do, before anything is asked of the database for it. Who is signed
 * in is counted apart, so that guests in the same shop take nothing from its merchant.
 */
export function limitPages(app: FastifyInstance, ctx: Context): void {
  const limits = {
    public: new AttemptLimit(ctx.config.pageLimit, windowMs),
    session: new AttemptLimit(ctx.config.pageLimit, windowMs),
  };
  // A pay page's own questions have limits of theirs.
  const unlimited = [...free, `${payRoute(ctx.config)}/state`, `${payRoute(ctx.config)}/events`];
  const limitOf = ({ routeOptions: { url, config } }: FastifyRequest): AttemptLimit | null => {
    if (url === undefined || config.auth === undefined || config.auth === 'api-key') return null;
    return unlimited.some((path) => url === path || url.startsWith(`${path}/`)) ? null : limits[config.auth];
  };
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort());
  let held = 0;
  app.addHook('onRequest', async (request, reply) => {
    const limit = limitOf(request);
    if (!limit || limit.take(clientSubject(request.ip), ctx.clock.now())) return;
    if (held < mostHeld) {
      held++;
      await pause(holdMs, ending.signal);
      held--;
    }
    return sendSlowDown(reply);
  });
}
