import { randomUUIDv7 } from 'node:crypto';
import { parse as parseForm } from 'node:querystring';
import formbody from '@fastify/formbody';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RouteOptions,
} from 'fastify';
import { adminPages } from '../admin/pages.ts';
import { readApiBodies } from '../auth/api-body.ts';
import { isForAgent } from '../checkout/agents/agent.ts';
import { liveStates } from '../checkout/live.ts';
import { payPages } from '../checkout/pages.ts';
import type { Context } from '../context.ts';
import { dashboardPages } from '../dashboard/pages.ts';
import { asRefusal } from '../db/conflict.ts';
import type { Database } from '../db/connection.ts';
import { AccessChanged, errors, Refusal, refuse } from '../errors.ts';
import { areStorable } from '../lib/text/storable.ts';
import { maxUserAgent } from '../lib/text/user-agent.ts';
import { merchantRoutes } from '../merchants/routes.ts';
import { onboardingPages } from '../onboarding/pages.ts';
import { logoRoute } from '../partners/pages.ts';
import { portalPages } from '../portal/pages.ts';
import { requestRoutes } from '../requests/routes.ts';
import { adminRealm, portalRealm } from '../users/realm.ts';
import { userSignInPages } from '../users/sign-in/pages.ts';
import { assetRoutes } from '../web/assets.ts';
import { errorPage, sendAccessChanged } from '../web/error-page.ts';
import { iconRoutes } from '../web/icon.ts';
import { isFromOwnPage } from '../web/origin.ts';
import { answerHeaders } from './answer-headers.ts';
import { apiDocument } from './api-document.ts';
import { followCalls } from './calls.ts';
import { answerClientErrors, ignoreExpectations } from './client-errors.ts';
import { closeWhenStopping } from './drain.ts';
import { healthRoutes } from './health.ts';
import { guardHosts } from './hosts.ts';
import { limitPages } from './page-limit.ts';
import { closeSilentSockets } from './silent-sockets.ts';

/**
 * The HTTP server with all its routes, not yet listening.
 *
 * @param pagesDb separate connections for pages, so that they cannot use up the API's
 * @param stopping aborted when the process is told to stop. From then on `/readyz` answers 503
 */
export async function buildServer(
  ctx: Context,
  pagesDb: Database = ctx.db,
  stopping: AbortSignal = new AbortController().signal,
): Promise<FastifyInstance> {
  const pages: Context = { ...ctx, db: pagesDb };
  const setHeaders = answerHeaders(ctx.config);
  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('x-request-id', request.id);
    setHeaders(reply, pathOf(request));
  };
  const app: FastifyInstance = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A row that the call creates takes this id. Its order is that of time, so new rows are adjacent in indexes.
    genReqId: () => randomUUIDv7(),
    exposeHeadRoutes: false,
    bodyLimit: 64 * 1024,
    requestTimeout: 30_000,
    trustProxy: ctx.config.trustProxy.length > 0 ? ctx.config.trustProxy : false,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests that arrive during a stop are answered as usual
    http: { requireHostHeader: false }, // Node would answer in another format; see `hasOneHost`
    clientErrorHandler: answerClientErrors(ctx.log),
    // Fastify refuses a URL that cannot be decoded, or a parameter that is too long, before it runs any hook.
    frameworkErrors: (error, request, reply) => {
      begin(request, reply);
      return answerError(ctx, error, request, reply);
    },
  });
  app.decorateRequest('reader', null);
  app.decorate('hasPlayMoney', ctx.config.sandbox && ctx.config.chains === null);
  ignoreExpectations(app);
  closeSilentSockets(app);
  closeWhenStopping(app, stopping);
  followCalls(app, ctx);
  const routes = collectRoutes(app);
  // The routes validate by themselves, after the key was checked. Fastify's schemas only describe them.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  app.addHook('onRequest', async (request, reply) => {
    // Node keeps a socket's address after it closes only if it was read before. The audit log needs the address even if
    // the client disconnects.
    void request.socket.remoteAddress;
    cutUserAgent(request);
    begin(request, reply);
    if (!hasOneHost(request)) throw refuse('malformed_http');
  });
  const isForApi = ({ url }: FastifyRequest) => url.startsWith('/api/');
  limitPages(
    app,
    ctx,
    (request) => !isForApi(request) && !routes.allowedMethods(pathOf(request)).includes(request.method),
  );
  app.addHook('onRequest', async (request, reply) => {
    const allowed = routes.allowedMethods(pathOf(request));
    // Fastify also matches an empty id, escaped letters, and a whole URL. Here, a path that only resembles a route is
    // unknown, so headers, checks and errors that depend on the path agree with what is served.
    const isAlike = request.routeOptions.url !== undefined || isForApi(request);
    if (allowed.length === 0 && isAlike) throw unknownAddress(request);
    if (allowed.length > 0 && !allowed.includes(request.method)) throw methodNotAllowed(reply, allowed);
  });
  guardHosts(app, pages);
  ctx.sandbox?.guardDev(app, ctx.config);
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(ctx, error, request, reply));
  app.setNotFoundHandler((request, reply) => answerError(ctx, unknownAddress(request), request, reply));

  // Pages accept only forms. The API reads bodies by itself.
  app.removeAllContentTypeParsers();
  await app.register(formbody, { parser: parseForm });
  refuseUnstorable(app);
  forgetForeignNotices(app);
  await apiDocument(app, ctx);
  await app.register(async (api) => {
    readApiBodies(api);
    requestRoutes(api, ctx);
    merchantRoutes(api, ctx);
  });
  healthRoutes(app, ctx, stopping);
  assetRoutes(app);
  iconRoutes(app);
  payPages(app, pages);
  liveStates(app, pages);
  onboardingPages(app, pages);
  dashboardPages(app, pages);
  logoRoute(app, pages);
  userSignInPages(app, pages, portalRealm);
  portalPages(app, pages);
  userSignInPages(app, pages, adminRealm);
  adminPages(app, pages);
  ctx.sandbox?.routes(app, pages);
  await app.ready();
  return app;
}

/**
 * Refuses text that the database cannot store, for every page. The API refuses it at its place in the order of checks.
 */
function refuseUnstorable(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ params, query, body, routeOptions }) => {
    if (routeOptions.config.auth === 'api-key') return;
    if (!areStorable(params)) throw refuse('not_found');
    if (!areStorable(query) || !areStorable(body)) throw refuse('malformed_text');
  });
}

/** `?done=` names what a page says was done. Anybody could put that into a link, so only pages of this site can. */
function forgetForeignNotices(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ query, headers }) => {
    if (!isFromOwnPage(headers)) delete (query as { done?: unknown }).done;
  });
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/** HTTP/1.1 requires exactly one Host header. If there are two, a proxy in front may have used the other one. */
function hasOneHost({ raw }: FastifyRequest): boolean {
  const hosts = raw.headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0');
}

/** Shortens the user agent, so that code that matches or stores it need not check its length. */
function cutUserAgent({ raw: { headers } }: FastifyRequest): void {
  if (headers['user-agent'] !== undefined) headers['user-agent'] = headers['user-agent'].slice(0, maxUserAgent);
}

type Route = { pattern: RegExp; methods: string[]; fixed: boolean };

/**
 * Checks that a route declares who may call it, and that a form of the portal or the administration declares whether it
 * needs more than the session.
 *
 * @throws Error if it does not
 */
export function assertDeclared({ url, method, config }: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
  if (config?.auth === undefined) throw new Error(`Route ${method} ${url} does not declare who may call it.`);
  const isForm = method === 'POST' && config?.auth === 'session' && /^\/(?:portal|admin)\//.test(url);
  if (isForm && config.fresh === undefined)
    throw new Error(`Route POST ${url} does not declare whether it needs more than the session.`);
}

/**
 * Records the routes that are added, and their methods. A route that does not declare who may call it fails the start.
 * `allowedMethods` returns the methods of a path, none if the path is unknown.
 */
function collectRoutes(app: FastifyInstance): { allowedMethods(path: string): string[] } {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ url, method, config }) => {
    assertDeclared({ url, method, config });
    const pattern = new RegExp(
      `^${url
        .replace(/(:[a-z_]+)\([^/]*\)/gi, '$1') // without a parameter's pattern
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[a-z_]+/gi, '[^/]+')
        .replace('\\*', '.*')}$`,
    );
    const known = routes.get(url) ?? { pattern, methods: [], fixed: !url.includes(':') };
    known.methods.push(...[method].flat());
    routes.set(url, known);
  });
  return {
    // A route without parameters takes precedence, whatever the method.
    allowedMethods: (path) => {
      const written = routes.get(path);
      if (written?.fixed) return written.methods;
      const matching = [...routes.values()].filter((route) => route.pattern.test(path));
      return (matching.find((route) => route.fixed) ?? matching[0])?.methods ?? [];
    },
  };
}

function unknownAddress({ url }: FastifyRequest): Refusal {
  if (url.startsWith('/api/v1/')) {
    return refuse('not_found', {}, 'The API has no such endpoint. /docs lists them; none ends with a slash.');
  }
  return refuse('not_found', {}, 'Nothing was found at this address. The API is at /api/v1.');
}

function methodNotAllowed(reply: FastifyReply, allowed: string[]): Refusal {
  reply.header('allow', [...new Set(allowed)].join(', '));
  return refuse('method_not_allowed');
}

/** Turns any error into a response: JSON for programs, a page for people. */
function answerError(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toRefusal(error);
  const [status] = errors[refusal.code];
  const { message } = refusal;
  if (status >= 500) {
    // The route instead of the URL, which can contain a link's secret token.
    ctx.log.error({ err: error, route: request.routeOptions.url ?? null }, refusal.code);
  }
  reply.code(status);
  if (refusal.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  if (refusal.code === 'body_too_large') reply.header('connection', 'close'); // the rest of the body is not read
  // Pages need no key: a program that sends one has mistaken the address. A proxy's `Basic` says nothing.
  const hasKey = /^Bearer /i.test(request.headers.authorization ?? '');
  const isForProgram = request.url.startsWith('/api/') || hasKey || isForAgent(ctx.config, request);
  if (!isForProgram && refusal instanceof AccessChanged) return sendAccessChanged(reply);
  if (!isForProgram) return errorPage(reply, status, message);
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ ok: false, error: refusal.code, message, ...refusal.extra }));
}

function toRefusal(error: unknown): Refusal {
  const known = asRefusal(error);
  if (known instanceof Refusal) return known;
  const status = (error as FastifyError).statusCode ?? 500;
  if (status === 413) return refuse('body_too_large');
  if (status === 415) return refuse('unsupported_media_type');
  // Fastify itself refuses only URLs and forms that cannot be decoded.
  return refuse(status >= 400 && status < 500 ? 'not_found' : 'internal_error');
}
