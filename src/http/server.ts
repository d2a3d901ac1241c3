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
} from 'fastify';
import { adminPages } from '../admin/pages.ts';
import { readApiBodies } from '../auth/api-body.ts';
import { liveStates } from '../checkout/live/routes.ts';
import { payPages } from '../checkout/pages.ts';
import type { Context } from '../context.ts';
import { dashboardPages } from '../dashboard/pages.ts';
import type { Database } from '../db/connection.ts';
import { type Refusal, refuse } from '../errors.ts';
import { withoutPort } from '../lib/networks.ts';
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
import { iconRoutes } from '../web/icon.ts';
import { isFromOwnPage } from '../web/origin.ts';
import { answerError } from './answer-error.ts';
import { answerHeaders } from './answer-headers.ts';
import { apiDocument } from './api-document.ts';
import { followCalls } from './calls.ts';
import { answerClientErrors, arrivalMs, ignoreExpectations, nodeLimits } from './client-errors.ts';
import { closeWhenStopping } from './drain.ts';
import { healthRoutes } from './health.ts';
import { guardHosts } from './hosts.ts';
import { limitPages } from './page-limit.ts';
import { limitPipelined } from './pipelined.ts';
import { collectRoutes, pathOf, type RouteTable } from './route-table.ts';
import { closeSilentSockets } from './silent-sockets.ts';
import { withoutSlash } from './trailing-slash.ts';
import { cutUnread } from './unread-answers.ts';

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
  const begin: Begin = (request, reply) => {
    reply.header('x-request-id', request.id);
    setHeaders(reply, pathOf(request));
  };
  const app = createApp(ctx, begin);
  // The order of what follows is the order of the checks of a call.
  ignoreExpectations(app);
  closeSilentSockets(app);
  closeWhenStopping(app, stopping);
  limitPipelined(app);
  followCalls(app, ctx);
  const routes = collectRoutes(app);
  beginCalls(app, begin);
  cutUnread(app);
  limitPages(app, ctx, (request) => !isForApi(request) && !allowedFor(routes, request).includes(request.method));
  refuseUnknown(app, ctx.config, routes);
  guardHosts(app, pages);
  ctx.sandbox?.guardDev(app, ctx.config);
  // Pages accept only forms. The API reads bodies by itself.
  app.removeAllContentTypeParsers();
  await app.register(formbody, { parser: parseForm });
  refuseUnstorable(app);
  discardForeignNotices(app);
  await addRoutes(app, ctx, pages, stopping);
  await app.ready();
  return app;
}

/** Sets the headers that every response has. */
type Begin = (request: FastifyRequest, reply: FastifyReply) => void;

function createApp(ctx: Context, begin: Begin): FastifyInstance {
  const app: FastifyInstance = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A row that the call creates takes this id. Its order is that of time, so new rows are adjacent in indexes.
    genReqId: () => randomUUIDv7(),
    exposeHeadRoutes: false,
    bodyLimit: 64 * 1024,
    requestTimeout: arrivalMs,
    trustProxy: ctx.config.trustProxy.length > 0 ? ctx.config.trustProxy : false,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests that arrive during a stop are answered as usual
    // Node would answer a missing Host in another format; see `hasOneHost`.
    http: { ...nodeLimits, requireHostHeader: false },
    clientErrorHandler: answerClientErrors(ctx.log),
    // Fastify refuses a URL that cannot be decoded, or a parameter that is too long, before it runs any hook.
    frameworkErrors: (error, request, reply) => {
      begin(request, reply);
      return answerError(ctx, error, request, reply);
    },
  });
  app.decorateRequest('reader', null);
  app.decorate('hasPlayMoney', ctx.config.sandbox && ctx.config.chains === null);
  // The routes validate by themselves, after the key was checked. Fastify's schemas only describe them.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(ctx, error, request, reply));
  app.setNotFoundHandler((request, reply) => answerError(ctx, unknownAddress(request), request, reply));
  return app;
}

function beginCalls(app: FastifyInstance, begin: Begin): void {
  app.addHook('onRequest', async (request, reply) => {
    // Node keeps a socket's address after it closes only if it was read before. The audit log needs the address even if
    // the client disconnects.
    void request.socket.remoteAddress;
    cutUserAgent(request);
    cutPorts(request);
    begin(request, reply);
    if (!hasOneHost(request)) throw refuse('malformed_http');
  });
}

const isForApi = ({ url }: FastifyRequest) => url.startsWith('/api/');
const allowedFor = (routes: RouteTable, request: FastifyRequest) => routes.allowedMethods(pathOf(request));

/** Refuses unknown addresses, except a page's with a slash at its end, and methods that a known one does not have. */
function refuseUnknown(app: FastifyInstance, config: Context['config'], routes: RouteTable): void {
  app.addHook('onRequest', async (request, reply) => {
    const allowed = allowedFor(routes, request);
    // Fastify also matches an empty id, escaped letters, and a whole URL. Here, a path that only resembles a route is
    // unknown, so headers, checks and errors that depend on the path agree with what is served.
    const isAlike = request.routeOptions.url !== undefined || isForApi(request);
    const page = allowed.length === 0 ? withoutSlash(config, routes, request) : null;
    if (page !== null) return reply.redirect(page, 301);
    if (allowed.length === 0 && isAlike) throw unknownAddress(request);
    if (allowed.length > 0 && !allowed.includes(request.method)) throw methodNotAllowed(request, reply, allowed);
  });
}

/** The map of the service. The API has its own connections, and its own parser of bodies. */
async function addRoutes(app: FastifyInstance, ctx: Context, pages: Context, stopping: AbortSignal): Promise<void> {
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
function discardForeignNotices(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ query, headers }) => {
    if (!isFromOwnPage(headers)) delete (query as { done?: unknown }).done;
  });
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

/**
 * Some proxies, such as Azure's Application Gateway, write the port beside an address. Then each connection would count
 * as another client, and a proxy in front of another would not be recognised.
 */
function cutPorts({ raw: { headers } }: FastifyRequest): void {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded !== 'string' || !forwarded.includes(':')) return;
  headers['x-forwarded-for'] = forwarded
    .split(',')
    .map((address) => withoutPort(address.trim()))
    .join(', ');
}

function unknownAddress({ url }: FastifyRequest): Refusal {
  if (url.startsWith('/api/v1/')) {
    return refuse('not_found', {}, 'The API has no such endpoint. /docs lists them; none ends with a slash.');
  }
  return refuse('not_found', {}, 'Nothing was found at this address. The API is at /api/v1.');
}

function methodNotAllowed(request: FastifyRequest, reply: FastifyReply, allowed: string[]): Refusal {
  reply.header('allow', [...new Set(allowed)].join(', '));
  // Most APIs create at the address of the list.
  if (request.method === 'POST' && pathOf(request) === '/api/v1/requests') {
    return refuse(
      'method_not_allowed',
      {},
      'Requests are created with POST /api/v1/requests/create. This address lists them, with GET.',
    );
  }
  return refuse('method_not_allowed');
}
