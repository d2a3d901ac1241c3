import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { minuteMs } from '../lib/durations.ts';
import { pause } from '../lib/time.ts';

/** The longest stream. Browsers reconnect by themselves, so a forgotten page does not hold one connection for ever. */
const maxStreamMs = 15 * minuteMs;
/** How long to wait for further changes, so that a burst of them causes one message. */
const gatherMs = 200;
/** The interval of heartbeats. They reveal lost connections, and keep proxies from closing idle ones. */
const restMs = 25_000;

/** How many streams of one area's pages a process has open, and how many of them for one user or merchant. */
export const maxStreams = 5_000;
export const maxStreamsOfOne = 20;

const streams = new WeakSet<ServerResponse>();

/** Whether a response is a stream, which stays open while a page is shown. */
export const isEventStream = (response: ServerResponse): boolean => streams.has(response);

/** Begins a stream of server-sent events that caches and proxies do not buffer. The caller writes to it and ends it. */
export function openEventStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  streams.add(reply.raw);
  return reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    connection: 'close', // a kept connection would delay a stop
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'x-request-id': reply.request.id,
  });
}

/**
 * Responds with server-sent events: one message at the start, because earlier changes were missed, then one whenever
 * the stream is woken, until the browser leaves or the signal aborts. A message does not say what changed: the page
 * requests its content.
 *
 * @param begin gets a function that wakes the stream, and returns a function that stops waking it
 * @param goesOn called before each message; if it returns false, the page gets a last message, and the stream ends
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
  const over = AbortSignal.any([signal, gone.signal, AbortSignal.timeout(maxStreamMs)]);
  const end = begin(wake);
  try {
    while (!over.aborted) {
      const nap = new AbortController();
      stir = () => nap.abort();
      if (!changed) await pause(restMs, AbortSignal.any([over, nap.signal]));
      if (over.aborted) break;
      if (changed) await pause(gatherMs, over);
      const lastChanged = changed;
      changed = false;
      if (lastChanged && !(await goesOn())) {
        stream.write('event: over\ndata: 1\n\n');
        break;
      }
      if (!over.aborted) stream.write(lastChanged ? 'data: changed\n\n' : ': here\n\n');
    }
  } finally {
    end();
    stream.end();
  }
}
