import type { ServerResponse } from 'node:http';
import { Histogram } from 'prom-client';
import { isEventStream } from '../web/event-stream.ts';

/** Counts calls of the whole process, of all its listeners. */
export const callSeconds = new Histogram({
  name: 'quittance_call_seconds',
  help: 'How long calls took, by endpoint of the API (pages together) and by kind of status',
  labelNames: ['route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [],
});

/** Caches histograms, because looking one up by its labels takes longer than counting. */
const known = new Map<string, { observe(seconds: number): void }>();

/** Probes come every second, whether anybody uses the service or not: they would hide that calls of others fail. */
const probes = new Set(['/healthz', '/readyz', '/metrics']);

const nameOf = (route: string | null): string => (route?.startsWith('/api/') ? route : 'pages');

const startedAtZero = new Set<string>();

/**
 * Reports that no call of a route has failed yet. `rate` and `increase` count from the first value that they see, so
 * without this one they would miss all failures up to it.
 */
export function countFailuresFromZero(route: string): void {
  const name = nameOf(route);
  if (startedAtZero.has(name)) return;
  startedAtZero.add(name);
  callSeconds.zero({ route: name, status: '5xx' });
}

/**
 * Counts a call that was answered. Event streams are not counted, because they last as long as a page is open, and
 * neither are probes.
 *
 * @param route the matched route; null if there was none
 */
export function recordAnswered(response: ServerResponse, route: string | null, seconds: number): void {
  if (isEventStream(response) || (route !== null && probes.has(route))) return;
  const name = nameOf(route);
  const status = `${Math.floor(response.statusCode / 100)}xx`;
  const key = `${status} ${name}`;
  let histogram = known.get(key);
  if (!histogram) {
    histogram = callSeconds.labels(name, status);
    known.set(key, histogram);
  }
  histogram.observe(seconds);
}
