import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { inNetworks } from '../lib/networks.ts';
import { openTrail, type RemoteSpan } from '../lib/trace.ts';
import { inTrail, type Trail } from '../lib/trail.ts';
import { countFailuresFromZero, recordAnswered } from './call-metrics.ts';

/**
 * Gives each call its trail: every log line of the call has its `x-request-id`, and if tracing is on, the call is a
 * span. Must be added before all hooks that log.
 */
export function followCalls(app: FastifyInstance, ctx: Context): void {
  const isProxy = inNetworks(ctx.config.trustProxy);
  app.decorateRequest('trail');
  app.addHook('onRoute', ({ url }) => countFailuresFromZero(url));
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    const trail = trailOf(request, isProxy(request.socket.remoteAddress));
    request.trail = trail;
    reply.raw.once('close', () => {
      const status = reply.raw.statusCode;
      trail.span?.set({ 'http.response.status_code': status });
      trail.span?.end(status >= 500 ? String(status) : undefined);
      const tookMs = performance.now() - startedAt;
      const names = namesOf(request);
      recordAnswered(reply.raw, names.route, tookMs / 1000);
      if (!ctx.log.isLevelEnabled('debug')) return;
      inTrail(trail, () => ctx.log.debug({ ...names, status, duration_ms: Math.round(tookMs) }, 'a call was answered'));
    });
    inTrail(trail, done);
  });
  // A form's body is read in handlers of an emitter, which lose the trail.
  app.addHook('preValidation', (request, _reply, done) => inTrail(request.trail, done));
}

/** The route instead of the URL, which can contain a link's secret token. */
const namesOf = ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions.url ?? null });

function trailOf(request: FastifyRequest, isFromProxy: boolean): Trail {
  const { proxyId, parent } = isFromProxy ? readProxyHeaders(request.headers) : nothing;
  const { method, route } = namesOf(request);
  const attributes = { 'http.request.method': method, 'quittance.x_request_id': request.id };
  return openTrail(
    { x_request_id: request.id, ...(proxyId && { proxy_request_id: proxyId }) },
    () => ({
      name: route === null ? method : `${method} ${route}`,
      kind: 'server',
      attributes: route === null ? attributes : { ...attributes, 'http.route': route },
    }),
    parent,
  );
}

type ProxyHeaders = { proxyId: string | null; parent: RemoteSpan | null };
const nothing: ProxyHeaders = { proxyId: null, parent: null };

const idPattern = /^[\w.~+/=:-]{1,128}$/;
const traceparentPattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The request id and the span that a proxy of `TRUST_PROXY` sends with a call. The proxy's id is logged beside ours and
 * never replaces it, because ours becomes the id of what the call creates. Malformed values are ignored.
 */
export function readProxyHeaders(headers: IncomingHttpHeaders): ProxyHeaders {
  const id = headers['x-request-id'];
  const [, traceId, spanId, flags] = traceparentPattern.exec(String(headers.traceparent ?? '')) ?? [];
  return {
    proxyId: typeof id === 'string' && idPattern.test(id) ? id : null,
    parent: traceId && spanId ? { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & 1) === 1 } : null,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The fields that all log lines of the call share, and its span. */
    trail: Trail;
  }
}
