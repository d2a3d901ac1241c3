import type { ServerResponse } from 'node:http';
import { Histogram } from 'prom-client';
import { isEventStream } from '../web/event-stream.ts';

/** Of the whole process, whichever listener answered. */
export const callSeconds = new Histogram({
  name: 'quittance_call_seconds',
  help: 'How long calls took, by endpoint of the API (pages together) and by kind of status',
  labelNames: ['route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [],
});

/** Looking up a counter by its labels takes longer than counting. */
const known = new Map<string, { observe(seconds: number): void }>();

/**
 * Counts a call that was answered. Streams are not counted: they last as long as somebody looks at a page.
 *
 * @param route of the endpoint; null where nothing matched
 */
export function countCall(response: ServerResponse, route: string | null, seconds: number): void {
  if (isEventStream(response)) return;
  const name = route?.startsWith('/api/') ? route : 'pages';
  const status = `${Math.floor(response.statusCode / 100)}xx`;
  const key = `${status} ${name}`;
  let figure = known.get(key);
  if (!figure) {
    figure = callSeconds.labels(name, status);
    known.set(key, figure);
  }
  figure.observe(seconds);
}
