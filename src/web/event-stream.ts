import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { Slots } from '../lib/concurrency/slots.ts';
import { minuteMs } from '../lib/durations.ts';
import { pause } from '../lib/time.ts';

/** The longest stream. Browsers reconnect by themselves, so a forgotten page does not hold one connection for ever. */
const maxStreamMs = 15 * minuteMs;
/** How long to wait for further changes, so that a burst of them causes one message. */
const gatherMs = 200;
/** The interval of heartbeats. They reveal lost connections, and keep proxies from closing idle ones. */
const restMs = 25_000;

/** How much of a stream may wait in memory for its reader, besides one message. */
const maxUnreadBytes = 65_536;
/** How long the reader of a stream that has ended may take for the rest. */
const endWithinMs = 5_000;

/**
 * An event, not a comment: browsers hide comments from pages, and a page takes a long silence for a broken connection.
 */
export const heartbeat = 'event: here\ndata: 1\n\n';

/** How many streams of one area's pages a process has open, and how many of them for one user or merchant. */
export const maxStreams = 5_000;
export const maxStreamsOfOne = 20;

const streams = new WeakSet<ServerResponse>();

/** Whether a response is a stream, which stays open while a page is shown. */
export const isEventStream = (response: ServerResponse): boolean => streams.has(response);

/**
 * Begins a stream of server-sent events that caches and proxies do not buffer. The caller writes to it (`writeEvent`)
 * and ends it (`endEventStream`).
 */
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
 * Writes to a stream. If its reader has left so much of it unread, the connection is closed: a browser that only
 * stalled connects again, and one that never reads cannot fill the memory.
 */
export function writeEvent(stream: ServerResponse, text: string): void {
  if (stream.writableLength > maxUnreadBytes) stream.destroy();
  else stream.write(text);
}

/** Ends a stream, and closes its connection if its reader does not take the rest. */
export function endEventStream(stream: ServerResponse): void {
  const cut = setTimeout(() => stream.destroy(), endWithinMs);
  stream.once('close', () => clearTimeout(cut));
  if (stream.closed) clearTimeout(cut);
  stream.end();
}

/** The event streams of one area's pages. They end when `ending` aborts. */
export type EventStreams = { slots: Slots; ending: AbortSignal; log: Pick<FastifyBaseLogger, 'warn'> };

/** What one stream reports. */
export type Reported = {
  /**
   * Begins to wake the stream after each change. Returns functions that stop this.
   *
   * @param onError takes an error that comes while the stream goes on
   */
  watch: (wake: () => void, onError: (error: unknown) => void) => (() => void)[];
  /** Asked before each message. If it returns false, the page gets a last message, and the stream ends. */
  goesOn: () => Promise<boolean>;
};

/**
 * Responds with server-sent events: one message at the start, because earlier changes were missed, then one whenever
 * the stream is woken, until the browser leaves. A message does not say what changed: the page requests its content.
 * Streams that are open keep their slots: a new one that finds none gets 204.
 *
 * @param holder whose slot the stream takes, after the holders within which it counts, such as its partner
 * @param open called once the stream has a slot, before it begins; what it throws is answered like any other fault
 */
export async function sendEvents(
  reply: FastifyReply,
  { slots, ending, log }: EventStreams,
  holder: string[],
  open: () => Reported | Promise<Reported>,
): Promise<FastifyReply> {
  // 204 ends an event source for good. Browser code then updates the page, and connects again after growing waits.
  if (ending.aborted || !slots.take(...holder)) return reply.code(204).send();
  const complain = (error: unknown) => log.warn({ err: error }, 'cannot listen for changes');
  try {
    const reported = await open();
    await report(reply, ending, reported, complain).catch(complain); // the browser reconnects automatically
  } finally {
    slots.leave(...holder);
  }
  return reply;
}

async function report(
  reply: FastifyReply,
  ending: AbortSignal,
  { watch, goesOn }: Reported,
  onError: (error: unknown) => void,
): Promise<void> {
  const stream = openEventStream(reply);
  writeEvent(stream, ': here\n\n');
  let [changed, stir] = [true, () => {}];
  const wake = () => {
    changed = true;
    stir();
  };
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  if (stream.destroyed) gone.abort(); // left before the stream began
  const over = AbortSignal.any([ending, gone.signal, AbortSignal.timeout(maxStreamMs)]);
  const ends = watch(wake, onError);
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
        writeEvent(stream, 'event: over\ndata: 1\n\n');
        break;
      }
      if (!over.aborted) writeEvent(stream, lastChanged ? 'data: changed\n\n' : heartbeat);
    }
  } finally {
    for (const end of ends) end();
    endEventStream(stream);
  }
}
