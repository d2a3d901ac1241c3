import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { minuteMs } from '../lib/durations.ts';
import { pause } from '../lib/time.ts';

/** Browsers connect again by themselves; so a forgotten page does not hold a connection for ever. */
const longestMs = 15 * minuteMs;
/** A burst of changes is told once. */
const gatherMs = 200;
/** Between two signs of life: lost connections are noticed, and proxies keep the others. */
const restMs = 25_000;

const streams = new WeakSet<ServerResponse>();

/** True for a response that stays open while somebody looks at a page. */
export const isEventStream = (response: ServerResponse): boolean => streams.has(response);

/** Begins a response of server-sent events that caches and proxies do not hold back. The caller writes and ends it. */
export function openEventStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  streams.add(reply.raw);
  return reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    connection: 'close', // kept, it would hold up a service that stops
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'x-request-id': reply.request.id,
  });
}

/**
 * Responds with server-sent events: one message at the start, since earlier changes woke nobody, then one for each time
 * it is woken, until the browser leaves or the signal aborts. A message does not say what changed: the page requests
 * its content.
 *
 * @param begin is given a function that wakes the stream, and returns one that ends the waking
 * @param goesOn called before each message; if it says no, the page is told so instead and the stream ends
 */
export async function sendEvents(
  reply: FastifyReply,
  signal: AbortSignal,
  begin: (wake: () => void) => () => void,
  goesOn: () => Promise<boolean>,
): Promise<void> {
  const stream = openEventStream(reply);
  stream.write(': here\n\n');
  let [changed, stir] = [true, () => {}];
  const wake = () => {
    changed = true;
    stir();
  };
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  if (stream.destroyed) gone.abort(); // left before the stream began
  const over = AbortSignal.any([signal, gone.signal, AbortSignal.timeout(longestMs)]);
  const end = begin(wake);
  try {
    while (!over.aborted) {
      const nap = new AbortController();
      stir = () => nap.abort();
      if (!changed) await pause(restMs, AbortSignal.any([over, nap.signal]));
      if (over.aborted) break;
      if (changed) await pause(gatherMs, over);
      const told = changed;
      changed = false;
      if (told && !(await goesOn())) {
        stream.write('event: over\ndata: 1\n\n');
        break;
      }
      if (!over.aborted) stream.write(told ? 'data: changed\n\n' : ': here\n\n');
    }
  } finally {
    end();
    stream.end();
  }
}
