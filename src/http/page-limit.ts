import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sentTokens } from '../auth/session-cookie.ts';
import { isForAgent } from '../checkout/agents/agent.ts';
import { payRoute } from '../checkout/paths.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { Tarpit } from '../lib/concurrency/tarpit.ts';
import { docsPath } from '../web/docs-path.ts';
import { sendSlowDown } from '../web/slow-down.ts';
import { hasPathPrefix } from './path-prefix.ts';

const windowMs = 10_000;
/** The limit of all sessions of one client together, valid or not, as a multiple of a single session's. */
const sessionsOfClient = 10;
/** Not limited: answered from memory or from a recent result, or, as `/metrics`, only to operators. */
const free = ['/healthz', '/readyz', '/metrics', '/assets', docsPath];

/**
 * Refuses a client that opens pages faster than people do, before any query for it. Clients with a session are counted
 * separately, so that strangers at the same address do not use up a merchant's limit. The session is not checked here:
 * invented ones count towards the limit of all sessions of their client. Requests for unknown pages have a limit of
 * their own, because answering them costs as much as a page.
 *
 * @param leadsNowhere whether no page has this address and method
 */
export function limitPages(
  app: FastifyInstance,
  ctx: Context,
  leadsNowhere: (request: FastifyRequest) => boolean,
): void {
  const { pageLimit } = ctx.config;
  const strangers = new AttemptLimit(pageLimit, windowMs);
  const sessions = new AttemptLimit(pageLimit, windowMs);
  const allSessions = new AttemptLimit(pageLimit * sessionsOfClient, windowMs);
  const nowhere = new AttemptLimit(pageLimit, windowMs);
  // The requests that an open pay page sends have limits of their own.
  const unlimited = [...free, `${payRoute(ctx.config)}/state`, `${payRoute(ctx.config)}/events`];
  const isLimited = ({ routeOptions: { url, config } }: FastifyRequest): boolean => {
    if (url === undefined || config.auth === undefined || config.auth === 'api-key') return false;
    return !hasPathPrefix(url, unlimited);
  };
  const take = (request: FastifyRequest, isNowhere: boolean): boolean => {
    const [client, now] = [clientSubject(request.ip), ctx.clock.now()];
    if (isNowhere) return nowhere.take(client, now);
    const shown = request.routeOptions.config.auth === 'session' ? sentTokens(request, ctx.config) : '';
    if (shown === '') return strangers.take(client, now);
    const session = createHash('sha256').update(shown).digest('base64url');
    return sessions.take(`${client} ${session}`, now) && allSessions.take(client, now);
  };
  const tarpit = new Tarpit();
  app.addHook('preClose', async () => tarpit.end());
  app.addHook('onRequest', async (request, reply) => {
    const isNowhere = leadsNowhere(request);
    if ((!isNowhere && !isLimited(request)) || take(request, isNowhere)) return;
    await tarpit.wait();
    if (isForAgent(ctx.config, request)) throw refuse('rate_limited');
    return sendSlowDown(reply);
  });
}
