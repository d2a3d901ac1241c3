import { watchTrouble } from '../chain/trouble.ts';
import type { Context } from '../context.ts';
import { listenForChanges } from '../db/changes.ts';
import type { Database } from '../db/connection.ts';
import { Places } from '../lib/concurrency/places.ts';
import { isStillIn } from '../users/enter.ts';
import { adminRealm } from '../users/realm.ts';
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
  const places = new Places(maxStreams, maxStreamsOfOne);
  pages.page({ url: adminEventsPath }, async ({ operator, request, reply }) => {
    // 204 ends an event source for good. Browser code then updates the page, and connects again after growing waits.
    if (ending.aborted || !places.take(operator.userId)) return reply.code(204).send();
    try {
      await sendEvents(
        reply,
        ending,
        (wake) => {
          const ends = [wakeSoon(ctx, wake), watchTrouble(ctx, 'test', wake), watchTrouble(ctx, 'live', wake)];
          return () => {
            for (const end of ends) end();
          };
        },
        () => isStillIn(ctx, adminRealm, request, operator),
      );
    } catch (error) {
      logFailure(ctx)(error); // the browser reconnects automatically
    } finally {
      places.leave(operator.userId);
    }
    return reply;
  });
}

const logFailure = (ctx: Context) => (error: unknown) => ctx.log.warn({ err: error }, 'cannot listen for changes');

/** Each process listens once, however many pages are open, and only while a page is open. */
function wakeSoon(ctx: Context, wake: () => void): () => void {
  const listening = listenings.get(ctx.db) ?? begin(ctx);
  listenings.set(ctx.db, listening);
  listening.wakes.add(wake);
  return () => {
    listening.wakes.delete(wake);
    if (listening.wakes.size > 0 || listenings.get(ctx.db) !== listening) return;
    listenings.delete(ctx.db);
    listening.end();
  };
}

function begin(ctx: Context): Listening {
  const wakes = new Set<() => void>();
  let timer: NodeJS.Timeout | null = null;
  const wakeAll = () => {
    timer = null;
    for (const wake of wakes) wake();
  };
  const wakeSoon = () => {
    timer ??= setTimeout(wakeAll, gatherMs);
  };
  const stopListening = listenForChanges(ctx.db, wakeSoon, logFailure(ctx));
  return {
    wakes,
    end: () => {
      if (timer) clearTimeout(timer);
      stopListening();
    },
  };
}
