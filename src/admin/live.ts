import { watchSilentChains } from '../chain/silence.ts';
import type { Context } from '../context.ts';
import { listenForChanges } from '../db/changes.ts';
import type { Database } from '../db/connection.ts';
import { Slots } from '../lib/concurrency/slots.ts';
import { isStillIn } from '../users/current-user.ts';
import { maxStreamsOfOne, sendEvents } from '../web/event-stream.ts';
import type { AdminPages } from './route.ts';

/** The event stream for pages of the administration. */
export const adminEventsPath = '/admin/events';

/** Something changes all the time, so pages are notified at most this often. */
const gatherMs = 3_000;
const maxStreams = 200;

type Listening = { wakes: Set<() => void>; end(): void };
const listenings = new WeakMap<Database, Listening>();

/** `GET /admin/events` (server-sent events): reports that something has changed, for any partner. */
export function adminEvents(pages: AdminPages, ctx: Context, ending: AbortSignal): void {
  const streams = { slots: new Slots(maxStreams, maxStreamsOfOne), ending, log: ctx.log };
  pages.page({ url: adminEventsPath }, ({ operator, reply }) =>
    sendEvents(reply, streams, [operator.userId], () => ({
      watch: (wake, onError) => [
        wakeSoon(ctx, wake, onError),
        watchSilentChains(ctx, 'test', wake),
        watchSilentChains(ctx, 'live', wake),
      ],
      goesOn: () => isStillIn(ctx, operator),
    })),
  );
}

/** Each process listens once, however many pages are open, and only while a page is open. */
function wakeSoon(ctx: Context, wake: () => void, onError: (error: unknown) => void): () => void {
  const listening = listenings.get(ctx.db) ?? begin(ctx, onError);
  listenings.set(ctx.db, listening);
  listening.wakes.add(wake);
  return () => {
    listening.wakes.delete(wake);
    if (listening.wakes.size > 0 || listenings.get(ctx.db) !== listening) return;
    listenings.delete(ctx.db);
    listening.end();
  };
}

function begin(ctx: Context, onError: (error: unknown) => void): Listening {
  const wakes = new Set<() => void>();
  let timer: NodeJS.Timeout | null = null;
  const wakeAll = () => {
    timer = null;
    for (const wake of wakes) wake();
  };
  const wakeSoon = () => {
    timer ??= setTimeout(wakeAll, gatherMs);
  };
  const stopListening = listenForChanges(ctx.db, wakeSoon, onError);
  return {
    wakes,
    end: () => {
      if (timer) clearTimeout(timer);
      stopListening();
    },
  };
}
