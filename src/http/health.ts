import { createHash, timingSafeEqual } from 'node:crypto';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
  type RouteHandlerMethod,
} from 'fastify';
import { type ChainStatus, chainStatus } from '../chain/status.ts';
import type { Context } from '../context.ts';
import { machineAheadMs, wrongFromMs } from '../db/database-clock.ts';
import { compareMigrations } from '../db/migrate.ts';
import { isOfSharedSession, sharedSessions } from '../db/pooler.ts';
import { missingKeys } from '../db/secret-keys.ts';
import { isFull, isWritable } from '../db/writable.ts';
import { cachedFor } from '../lib/cache.ts';
import { within } from '../lib/time.ts';
import { answerClientErrors, arrivalMs, nodeLimits } from './client-errors.ts';
import { openRegistry } from './metrics.ts';
import { closeSilentSockets } from './silent-sockets.ts';

/** Each part is `ok` or says what is wrong. */
type Parts = Record<string, string>;
type Readiness = { ready: boolean; parts: Parts };

/** How long a result is kept, so that frequent probes do not query the database and the providers each time. */
const keepMs = 5_000;

const stopped: Readiness = { ready: false, parts: { process: 'is stopping' } };

/** After this time a probe is answered without the database: a load balancer's check gives up soon after. */
const answerMs = 2_000;

class Late extends Error {}

/** Checks that the database can be written, and that its migrations match this version. */
async function askDatabase(ctx: Context): Promise<Readiness> {
  const parts: Parts = { database: 'ok', migrations: 'ok' };
  if (!(await isWritable(ctx.db.sql))) parts.database = 'accepts no changes: it is a standby, or is read-only';
  const { pending, ahead } = await compareMigrations(ctx.db.sql);
  if (pending.length > 0) parts.migrations = `not applied yet: ${pending.join(', ')}`;
  if (ahead.length > 0) parts.migrations = `made for a newer version: ${ahead.join(', ')}`;
  const ready = Object.values(parts).every((state) => state === 'ok');
  // These do not make a node unready: it follows the database's clock, and serves everything that its own keys can
  // read.
  const hints = { 'secret keys': await keyState(ctx), clock: clockState(ctx) };
  return { ready, parts: { ...parts, ...hints, ...(isFull(ctx.db) && { disk: noRoom }) } };
}

/** Nor does this: every node has the same database, and much of its work needs no new room. */
const noRoom = 'a disk of the database was full in the last five minutes: make room there; no node needs a restart';

/** A start with a missing key is refused, but another node may start with a new one while this node runs. */
async function keyState({ db: { sql }, config }: Context): Promise<string> {
  const missing = await missingKeys(sql, config.secretKeys);
  if (missing.length === 0) return 'ok';
  return `another node uses ${missing.join(', ')}, which this one lacks, so it answers API keys and links made there with 503, does not know sessions, and leaves their events and e-mails to that node: restart it with the same SECRET_KEYS`;
}

function clockState({ clock }: Context): string {
  const aheadMs = machineAheadMs(clock);
  if (Math.abs(aheadMs) < wrongFromMs) return 'ok';
  return `this machine’s is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database’s, which counts`;
}

/** A function that checks whether this node can work, and answers within `answerMs`. */
function readinessOf(ctx: Context): () => Promise<Readiness> {
  let last: Readiness | null = null;
  return async () => {
    const asked = askDatabase(ctx).then((found) => (last = found));
    try {
      return await within(asked, answerMs, () => new Late(`the database has not answered for ${answerMs} ms`));
    } catch (error) {
      // Under load the check waits for a connection. That is no reason to take every node out of the balancer.
      const isOnlyBusy = ctx.db.pools.some(({ answeredAtMs }) => performance.now() - answeredAtMs < answerMs);
      if (error instanceof Late && isOnlyBusy && last) return last;
      ctx.log.error({ err: error }, 'not ready: the database cannot be reached');
      const reason = error instanceof Late ? `does not answer within ${answerMs / 1000} s` : 'cannot be reached';
      return {
        ready: false,
        parts: {
          database: isOfSharedSession(error) ? sharedSessions : reason,
          migrations: 'unknown without the database',
        },
      };
    }
  };
}

/**
 * Checks the chains' providers, for operators. Readiness does not depend on them: all nodes share the same providers,
 * so a load balancer would remove all nodes because of one silent provider, although calls and pages work without it.
 */
async function checkChains(ctx: Context): Promise<Parts> {
  const chains = await chainStatus(ctx);
  return Object.fromEntries(chains.map((chain) => [`chain ${chain.chainId}`, stateOf(chain)]));
}

function stateOf({ reachable, silent, endpoints }: ChainStatus): string {
  if (!reachable) return 'no provider answers';
  const away = endpoints.filter(({ head }) => head === null).map(({ host }) => host);
  if (away.length > 0) return `payments wait for ${away.join(', ')}, which does not answer`;
  return silent ? 'nothing was read for a minute' : 'ok';
}

/**
 * Who may read metrics and the details of readiness: nobody, callers with the token, or everybody who can reach the
 * listener.
 */
type Readers = 'nobody' | 'anybody' | { token: string };

const hashOf = (text: string) => createHash('sha256').update(text).digest();

function isReader(readers: Readers, { headers }: FastifyRequest): boolean {
  if (typeof readers === 'string') return readers === 'anybody';
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return given !== undefined && timingSafeEqual(hashOf(given), hashOf(readers.token));
}

/**
 * `/healthz` says that the process is alive, `/readyz` whether it can work. With the operator's token, `/readyz` adds
 * details, and `/metrics` answers.
 */
export function healthRoutes(app: FastifyInstance, ctx: Context, stopping: AbortSignal): void {
  const { port, token } = ctx.config.metrics;
  addRoutes(app, ctx, stopping, port !== null || token === null ? 'nobody' : { token });
}

/** A server with the same three routes for operators, on `METRICS_PORT`; not yet listening. */
export async function buildMetricsServer(
  ctx: Context,
  stopping: AbortSignal = new AbortController().signal,
): Promise<FastifyInstance> {
  const { token } = ctx.config.metrics;
  const app: FastifyInstance = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    requestTimeout: arrivalMs,
    http: nodeLimits,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientErrors(ctx.log),
  });
  closeSilentSockets(app);
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('application/json').send('{"ok":false}'));
  app.setErrorHandler((error, _request, reply) => {
    ctx.log.error({ err: error }, 'metrics could not be read');
    return reply.code(503).type('application/json').send('{"ok":false}');
  });
  addRoutes(app, ctx, stopping, token === null ? 'anybody' : { token });
  await app.ready();
  return app;
}

function addRoutes(app: FastifyInstance, ctx: Context, stopping: AbortSignal, readers: Readers): void {
  const registry = openRegistry(ctx);
  const readiness = cachedFor(keepMs, ctx.clock, readinessOf(ctx));
  const ofChains = cachedFor(keepMs, ctx.clock, () => checkChains(ctx));
  const config = { auth: 'public' as const };
  // Many monitors ask with HEAD unless told otherwise.
  const probe = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config, handler });
  probe('/healthz', async (_request, reply) => reply.type('application/json').send('{"ok":true}'));
  probe('/readyz', async (request, reply) => {
    const showsDetails = isReader(readers, request);
    const [{ ready, parts }, chains] = stopping.aborted
      ? [stopped, {}]
      : await Promise.all([readiness(), showsDetails ? ofChains() : {}]);
    const body = showsDetails ? { ok: ready, ...parts, ...chains } : { ok: ready };
    return reply
      .code(ready ? 200 : 503)
      .type('application/json')
      .send(JSON.stringify(body));
  });
  if (readers === 'nobody') return;
  app.get('/metrics', { config }, async (request, reply) => {
    if (isReader(readers, request)) return reply.type(registry.contentType).send(await registry.metrics());
    return reply.code(401).header('www-authenticate', 'Bearer').type('application/json').send('{"ok":false}');
  });
}
