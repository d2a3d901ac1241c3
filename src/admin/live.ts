import type { Context } from '../context.ts';
import { hearChanges } from '../db/changes.ts';
import type { Database } from '../db/connection.ts';
import { isStillIn } from '../users/enter.ts';
import { adminRealm } from '../users/realm.ts';
import { StreamPlaces, sendEvents } from '../web/event-stream.ts';
import type { AdminPages } from './route.ts';

/** The address that pages of the administration listen to. */
export const adminEventsPath = '/admin/events';

/** Something changes all the time: pages are told this often at most. */
const gatherMs = 3_000;
const mostStreams = 200;

type Hearing = { wakes: Set<() => void>; end(): void };
const hearings = new WeakMap<Database, Hearing>();

/** `GET /admin/events` (server-sent events): that something has changed, whoever's it is. */
export function adminEvents(pages: AdminPages, ctx: Context, ending: AbortSignal): void {
  const places = new StreamPlaces(mostStreams);
  pages.page({ url: adminEventsPath }, async ({ operator, request, reply }) => {
    // 204 ends an event source: the page looks again when it is opened anew.
    if (ending.aborted || !places.take(operator.userId)) return reply.code(204).send();
    try {
      await sendEvents(
        reply,
        ending,
        (wake) => hear(ctx, wake),
        () => isStillIn(ctx, adminRealm, request, operator),
      );
    } catch (error) {
      complain(ctx)(error); // the browser connects again by itself
    } finally {
      places.leave(operator.userId);
    }
    return reply;
  });
}

const complain = (ctx: Context) => (error: unknown) => ctx.log.warn({ err: error }, 'cannot listen for changes');

/** A process listens once, however many pages are open, and only while one is. */
function hear(ctx: Context, wake: () => void): () => void {
  const hearing = hearings.get(ctx.db) ?? begin(ctx);
  hearings.set(ctx.db, hearing);
  hearing.wakes.add(wake);
  return () => {
    hearing.wakes.delete(wake);
    if (hearing.wakes.size > 0 || hearings.get(ctx.db) !== hearing) return;
    hearings.delete(ctx.db);
    hearing.end();
  };
}

function begin(ctx: Context): Hearing {
  const wakes = new Set<() => void>();
  let timer: NodeJS.Timeout | null = null;
  const tell = () => {
    timer = null;
    for (const wake of wakes) wake();
  };
  const hear = () => {
    timer ??= setTimeout(tell, gatherMs);
  };
  const endHearing = hearChanges(ctx.db, hear, complain(ctx));
  return {
    wakes,
    end: () => {
      if (timer) clearTimeout(timer);
      endHearing();
    },
  };
}
