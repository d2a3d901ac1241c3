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

/**
 * Keeps count of open streams in this process, so that neither one holder nor all together can have too many. A holder is
 * whom the streams are for, never a session: anybody can have as many of those as they like.
 */
export class StreamPlaces {
  readonly #most: number;
  readonly #mostOfOne: number;
  #taken = 0;
  #byHolder = new Map<string, number>();

  constructor(most = 5_000, mostOfOne = 20) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** Takes a place; false when there is none. */
  take(holder: string): boolean {
    const own = this.#byHolder.get(holder) ?? 0;
    if (own >= this.#mostOfOne || this.#taken >= this.#most) return false;
    this.#taken++;
    this.#byHolder.set(holder, own + 1);
    return true;
  }

  /** Gives back a place that was taken. */
  leave(holder: string): void {
    const left = (this.#byHolder.get(holder) ?? 1) - 1;
    this.#taken--;
    if (left > 0) this.#byHolder.set(holder, left);
    else this.#byHolder.delete(holder);
  }
}

/** Begins an answer of server-sent events, which no cache keeps and no proxy holds back; the caller writes and ends it. */
export function openEventStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
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
 * Answers with server-sent events: one message at the beginning, since what changed before it listened woke nobody, then one
 * for each time it was woken, until the browser leaves or the signal aborts. It does not say what has changed: the page asks
 * for what it shows.
 *
 * @param begin is given what wakes the stream, and returns what ends the waking
 * @param goesOn asked before each message: when it says no, the page is told so instead, and the stream ends
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
